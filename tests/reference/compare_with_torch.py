"""Our model against an independent one: transformers reads the same GGUF file with its own reader, and torch runs it.

The reference is torch in float64; beside our distance from it stands that of torch in float32, which no float32 program
can be expected to beat by much.

Needs torch, transformers and gguf, which collpress does not: run it in an environment that has them, as often as the
model's code changes, and keep what it finds in results.json beside it (`tests/llama` holds that file to its bounds and
to the fingerprints).

example: OPENBLAS_NUM_THREADS=1 PYTHONPATH=workflow python tests/reference/compare_with_torch.py MODEL.gguf
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import pre_tokenizers

from collpress.data.bfloat16 import narrowed
from collpress.data.fingerprint import fingerprint
from collpress.data.llama import gguf
from collpress.data.llama.backward import loss_and_gradients, ready_order
from collpress.data.llama.forward import Layer
from collpress.data.llama.model import EMBEDDING, FINAL_NORM, Model, load
from collpress.data.llama.tokenizer import Tokenizer

HERE = Path(__file__).parent
TEXT = HERE.parents[1] / "resources" / "texts" / "weather-and-machines.txt"
PASSES = {"2x128": (128, 2), "4x512": (512, 1)}
"""Tokens a rank, and how many ranks of the registry's pass are compared."""
HARD = "It's 1234567890 o'clock;  né?\n\n\tNaïve Straße — ２½ ²³ 日本語 😀 _under_score_ I'LL we'll \u00a0x\r\n   end "
"""Digits, contractions, other scripts and all kinds of space."""
PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def theirs(name: str) -> str:
    """The name that transformers has for a tensor."""
    whole = {EMBEDDING: "model.embed_tokens.weight", FINAL_NORM: "model.norm.weight"}
    if name in whole:
        return whole[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{PARTS[part]}.weight"


def difference(ours: Any, reference: Any) -> float:
    """Largest difference over the largest magnitude."""
    ours, reference = np.asarray(ours, np.float64), np.asarray(reference, np.float64)
    return float(np.abs(ours - reference).max() / np.abs(reference).max())


def distance(ours: Any, reference: Any) -> float:
    """Norm of the difference over the norm."""
    ours, reference = np.asarray(ours, np.float64), np.asarray(reference, np.float64)
    return float(np.linalg.norm(ours - reference) / np.linalg.norm(reference))


@dataclass
class Run:
    """What one program makes of one rank's tokens; lists by layer, gradients by our names."""

    loss: float
    keys: list[Any]
    values: list[Any]
    residual: list[Any]
    """Behind each layer but the last, which transformers hands out normalised."""
    gradients: dict[str, Any]


def our_run(model: Model, tokens: list[int]) -> Run:
    seen: list[Layer] = []
    loss, gradients = loss_and_gradients(model, tokens, ready_order(model.sizes), seen.append)
    return Run(loss, [s.k for s in seen], [s.v for s in seen], [s.out for s in seen[:-1]], dict(gradients))


def torch_run(network: Any, names: list[str], tokens: list[int]) -> Run:
    ids = torch.tensor([tokens])
    network.zero_grad()
    out = network(ids, use_cache=True, output_hidden_states=True)
    # Not transformers' own loss, which rounds the scores to float32 and loses digits that the gradients need.
    loss = torch.nn.functional.cross_entropy(out.logits[0, :-1].double(), ids[0, 1:])
    loss.backward()
    cached = out.past_key_values.layers
    parameters = dict(network.named_parameters())
    return Run(
        float(loss.detach()),
        [layer.keys[0].detach().numpy() for layer in cached],
        [layer.values[0].detach().numpy() for layer in cached],
        [hidden[0].detach().numpy() for hidden in out.hidden_states[1:-1]],
        {name: parameters[theirs(name)].grad.numpy() for name in names},
    )


def distances(run: Run, reference: Run) -> dict[str, float]:
    """The worst layer's or tensor's distance, of everything."""
    pairs = {name: (run.gradients[name], reference.gradients[name]) for name in reference.gradients}
    return {
        "loss": abs(run.loss - reference.loss) / reference.loss,
        "keys": max(map(difference, run.keys, reference.keys)),
        "values": max(map(difference, run.values, reference.values)),
        "residual": max(map(difference, run.residual, reference.residual)),
        "gradients": max(difference(*pair) for pair in pairs.values()),
        "gradients_by_norm": max(distance(*pair) for pair in pairs.values()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the GGUF file")
    path = parser.parse_args().model
    torch.set_num_threads(1)
    file = gguf.read(path)
    ours, tokenizer = load(file), Tokenizer(file)
    where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    single, double = (
        transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=dtype, attn_implementation="eager")
        for dtype in (torch.float32, torch.float64)
    )
    reference = transformers.AutoTokenizer.from_pretrained(**where)
    # What transformers makes of a GGUF file lacks the first step of SmolLM2's own tokenizer.
    steps = [pre_tokenizers.Digits(individual_digits=True), reference.backend_tokenizer.pre_tokenizer]
    reference.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    parameters = dict(single.named_parameters())
    unequal = [n for n in ours.weights if not np.array_equal(ours.weights[n], parameters[theirs(n)].detach().numpy())]
    text = TEXT.read_text(encoding="utf-8")
    tokens = tokenizer.encode(text)
    same = tokens == reference(text)["input_ids"] and tokenizer.encode(HARD) == reference(HARD)["input_ids"]
    names, passes, keys, gradients = ready_order(ours.sizes), {}, [], []
    for name, (length, ranks) in PASSES.items():
        for rank in range(ranks):
            own = tokens[rank * length : (rank + 1) * length]
            exact, torch_single = torch_run(double, names, own), torch_run(single, names, own)
            found = {"ours": distances(our_run(ours, own), exact), "torch_float32": distances(torch_single, exact)}
            passes[f"{name} rank {rank}"] = {"loss": exact.loss, **found}
            print(name, rank, found, flush=True)
            if name == "2x128":
                keys.append(np.stack(torch_single.keys))
                last = [torch_single.gradients[n].ravel() for n in names if n.startswith("blk.29.")]
                gradients.append(np.concatenate(last))
    report = {
        "schema": 1,
        "model_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "text_sha256": hashlib.sha256(TEXT.read_bytes()).hexdigest(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        "weights_that_differ": unequal,
        "tokens_agree": same,
        "tokens": len(tokens),
        "passes": passes,
        "fingerprints_of_torch": {
            "smollm2-kv/quick-k": fingerprint(narrowed(np.stack(keys))),
            "smollm2-grad/quick": fingerprint(np.stack(gradients)),
        },
    }
    (HERE / "results.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
