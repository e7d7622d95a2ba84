"""Our model against an independent one: transformers reads the same GGUF file with its own reader, and torch runs it.

Needs torch, transformers and gguf, which collpress does not: run it in an environment that has them, as often as the
model's code changes, and keep what it finds in results.json beside it (`tests/llama` holds that file to its bounds and
to the fingerprints).

example: OPENBLAS_NUM_THREADS=1 PYTHONPATH=workflow /tmp/torchenv/bin/python tests/reference/compare_with_torch.py MODEL.gguf
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

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


def compare_pass(model: Model, network: Any, tokens: list[int]) -> tuple[dict[str, float], dict[str, Any]]:
    """Keys, values, residual stream, loss and the gradients of all tensors, for one rank's tokens.

    Returns how far they are apart, and torch's own tensors as the captures of `quick` hold them.
    """
    seen: list[Layer] = []
    loss, gradients = loss_and_gradients(model, tokens, ready_order(model.sizes), seen.append)
    ids = torch.tensor([tokens])
    network.zero_grad()
    out = network(ids, labels=ids, use_cache=True, output_hidden_states=True)
    out.loss.backward()
    cached = out.past_key_values
    pairs = [(cached.layers[n].keys, cached.layers[n].values) for n in range(model.sizes.layers)]
    parameters = dict(network.named_parameters())
    found = {name: (ours, parameters[theirs(name)].grad.numpy()) for name, ours in gradients}
    hidden = zip(seen[:-1], out.hidden_states[1:-1], strict=True)  # theirs of the last layer is normalised
    last = [both[1].ravel() for name, both in found.items() if name.startswith("blk.29.")]
    captured = {
        "smollm2-kv/quick-k": np.stack([k[0].detach().numpy() for k, _ in pairs]),
        "smollm2-grad/quick": np.concatenate(last),
    }
    return {
        "loss": loss,
        "loss_of_torch": float(out.loss),
        "keys": max(difference(s.k, k[0].detach()) for s, (k, _) in zip(seen, pairs, strict=True)),
        "values": max(difference(s.v, v[0].detach()) for s, (_, v) in zip(seen, pairs, strict=True)),
        "residual": max(difference(s.out, h[0].detach()) for s, h in hidden),
        "gradients": max(difference(*both) for both in found.values()),
        "gradients_by_norm": max(distance(*both) for both in found.values()),
        "gradient_norm": float(np.sqrt(sum(np.sum(b.astype(np.float64) ** 2) for _, b in found.values()))),
    }, captured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the GGUF file")
    path = parser.parse_args().model
    torch.set_num_threads(1)
    file = gguf.read(path)
    ours, tokenizer = load(file), Tokenizer(file)
    where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    network = transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, attn_implementation="eager")
    reference = transformers.AutoTokenizer.from_pretrained(**where)
    parameters = dict(network.named_parameters())
    unequal = [n for n in ours.weights if not np.array_equal(ours.weights[n], parameters[theirs(n)].detach().numpy())]
    text = TEXT.read_text(encoding="utf-8")
    tokens = tokenizer.encode(text)
    same = tokens == reference(text)["input_ids"] and tokenizer.encode(HARD) == reference(HARD)["input_ids"]
    passes, quick = {}, []
    for name, (length, ranks) in PASSES.items():
        for rank in range(ranks):
            own = tokens[rank * length : (rank + 1) * length]
            passes[f"{name} rank {rank}"], captured = compare_pass(ours, network, own)
            if name == "2x128":
                quick.append(captured)
            print(name, rank, passes[f"{name} rank {rank}"], flush=True)
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
            "smollm2-kv/quick-k": fingerprint(narrowed(np.stack([rank["smollm2-kv/quick-k"] for rank in quick]))),
            "smollm2-grad/quick": fingerprint(np.stack([rank["smollm2-grad/quick"] for rank in quick])),
        },
    }
    (HERE / "results.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
