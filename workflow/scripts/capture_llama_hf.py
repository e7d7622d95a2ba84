"""Captures the tensors of any Llama-architecture model of Hugging Face, as training and serving send them.

For models that are too large for collpress itself, Llama 3 8B above all: needs torch and transformers (envs/hf.txt)
and, for 8 billion parameters, a GPU with 80 GB. A gated model needs a token in HF_TOKEN and its licence accepted. Each
product is one file, DIR/NAME.bin, with a sidecar DIR/NAME.json, laid out like collpress's own captures; the slowest
axis counts ranks:

  gradients          value: of chosen parameters, the last layer's first; each data-parallel rank reads its own text
  keys, values       layer, KV head, token, dimension: a rank's KV-cache, bfloat16
  decode             token, layer, key or value, KV head, dimension: the same in the order in which decoding appends it
  residual           layer, token, width: what a pipeline's stage that ends with the layer sends forwards
  residual-gradient  layer, token, width: what it receives backwards
  attention-partial, mlp-partial   layer, token, width: what each tensor-parallel rank brings to the reduce-scatter
  sequence-gradient  layer, token of the rank's chunk, width: what each sequence-parallel rank brings to the all-gather
                     of the derivative by the attention's result

Ranks of the last two groups share one text, the first, as such ranks do: their sums, and their chunks behind each
other, are those of one pass.

example: python workflow/scripts/capture_llama_hf.py --revision COMMIT --out /scratch/llama3-8b
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from collpress.data.sidecar import ITEM_BYTES, Sidecar
from collpress.errors import CollpressError
from collpress.files import atomic, require_room, sha256_of
from collpress.layout import ROOT

TEXT = ROOT / "resources" / "texts" / "weather-and-machines.txt"
PARTIAL = {"attention-partial": "self_attn.o_proj", "mlp-partial": "mlp.down_proj"}
FIX_GATED = (
    "accept its licence on its page, then set HF_TOKEN to a token of that account; or give a directory that holds it"
)


class Product:
    """A file that takes an array piece by piece: float32, or bfloat16 as its 16 bits."""

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: str) -> None:
        self.path, self.shape, self.dtype = path, shape, dtype
        self.least, self.largest = math.inf, -math.inf
        self.file: Any = None

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * ITEM_BYTES[self.dtype]

    def put(self, at: tuple[int, ...], piece: Any, offset: int = 0) -> None:
        """A torch tensor to where the indices of the slowest axes begin, `offset` values further on."""
        import torch

        piece = piece.detach().to("cpu", torch.bfloat16 if self.dtype == "bfloat16" else torch.float32).contiguous()
        if not torch.isfinite(piece).all():
            raise CollpressError(f"values that are NaN or infinite at {list(at)}", where=self.path.stem)
        self.least, self.largest = min(self.least, float(piece.min())), max(self.largest, float(piece.max()))
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(len(at))]
        first = sum(index * step for index, step in zip(at, steps, strict=True)) + offset
        bits = piece.view(torch.int16 if self.dtype == "bfloat16" else torch.int32).numpy()
        self.file.seek(first * ITEM_BYTES[self.dtype])
        self.file.write(bits.astype(bits.dtype.newbyteorder("<")).data)


class Capture:
    """One model, and the products of one pass for each rank."""

    def __init__(self, args: argparse.Namespace, model: Any, texts: list[list[int]]) -> None:
        self.model, self.texts, self.ranks, self.tokens = model, texts, args.ranks, args.tokens
        config = model.config
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.width, self.depth = config.hidden_size, config.num_hidden_layers
        self.head_width = getattr(config, "head_dim", None) or self.width // self.heads
        self.layers = args.layers if args.layers is not None else list(range(self.depth))
        if any(layer >= self.depth for layer in self.layers):
            raise CollpressError(f"the layers {self.layers}", where="--layers", allowed=f"0 to {self.depth - 1}")
        self.chosen = _chosen(args.gradients, model)
        self.native = str(model.dtype).removeprefix("torch.")
        self.stored = "bfloat16" if self.native == "bfloat16" else "float32"
        self.products = {name: self._product(args.out / f"{name}.bin", name) for name in self._names()}

    def _names(self) -> list[str]:
        names = ["gradients", "keys", "values", "decode", "residual", "residual-gradient", *PARTIAL]
        return [*names, "sequence-gradient"] if self.tokens % self.ranks == 0 else names

    def _product(self, path: Path, name: str) -> Product:
        cache = (self.kv_heads, self.tokens, self.head_width)
        activation = (self.ranks, len(self.layers), self.tokens, self.width)
        shape = {
            "gradients": (self.ranks, sum(p.numel() for _, p in self.chosen)),
            "keys": (self.ranks, self.depth, *cache),
            "values": (self.ranks, self.depth, *cache),
            "decode": (self.ranks, self.tokens, self.depth, 2, self.kv_heads, self.head_width),
            "sequence-gradient": (self.ranks, len(self.layers), self.tokens // self.ranks, self.width),
        }.get(name, activation)
        return Product(path, shape, "bfloat16" if name in {"keys", "values", "decode"} else self.stored)

    def run(self) -> None:
        """All ranks, one after the other; every file appears whole when all are made."""
        require_room(next(iter(self.products.values())).path.parent, sum(p.bytes for p in self.products.values()))
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        for _, parameter in self.chosen:
            parameter.requires_grad_(True)
        with ExitStack() as files:
            for product in self.products.values():
                product.file = files.enter_context(atomic(product.path))
            for rank, tokens in enumerate(self.texts):
                print(
                    f"rank {rank}: {len(tokens)} tokens, loss {self._rank(rank, tokens):.3f} nats",
                    file=sys.stderr,
                    flush=True,
                )

    def _rank(self, rank: int, tokens: list[int]) -> float:
        import torch

        ids = torch.tensor([tokens], device=self.model.device)
        start = self.model.get_input_embeddings()(ids).detach().requires_grad_(True)
        hooks = [hook for place, layer in enumerate(self.layers) for hook in self._watch(rank, place, layer)]
        try:
            out = self.model(inputs_embeds=start, labels=ids, use_cache=True)
            out.loss.backward()
        finally:
            for hook in hooks:
                hook.remove()
        self._keep_cache(rank, out.past_key_values)
        offset = 0
        for _, parameter in self.chosen:
            self.products["gradients"].put((rank,), parameter.grad.flatten(), offset)
            offset += parameter.numel()
            parameter.grad = None
        return float(out.loss.detach())

    def _watch(self, rank: int, place: int, number: int) -> list[Any]:
        """Hooks that take from one layer what is wanted of it."""
        layer = self.model.model.layers[number]

        def residual(_module: Any, _args: Any, result: Any) -> None:
            hidden = result[0] if isinstance(result, tuple) else result
            self.products["residual"].put((rank, place), hidden[0])
            hidden.register_hook(lambda d: self.products["residual-gradient"].put((rank, place), d[0]))

        hooks = [layer.register_forward_hook(residual)]
        if rank == 0:  # the ranks of these groups all read one text
            for name, where in PARTIAL.items():
                hooks.append(layer.get_submodule(where).register_forward_hook(self._partial(name, place)))
            if "sequence-gradient" in self.products:
                hooks.append(layer.self_attn.o_proj.register_forward_hook(self._chunks(place)))
        return hooks

    def _partial(self, name: str, place: int) -> Callable[..., None]:
        """A hook of a projection: the products of each rank's columns; heads stay whole."""
        unit = self.head_width if name == "attention-partial" else 1

        def hook(module: Any, args: Any, _result: Any) -> None:
            x, weight = args[0][0].detach(), module.weight.detach()
            for rank, part in enumerate(_shares(weight.shape[1] // unit, self.ranks)):
                columns = slice(unit * part.start, unit * part.stop)
                self.products[name].put((rank, place), x[:, columns] @ weight[:, columns].T)

        return hook

    def _chunks(self, place: int) -> Callable[..., None]:
        """A hook of attn_output: each rank's tokens of the loss's derivative by what it gives."""

        def hook(_module: Any, _args: Any, result: Any) -> None:
            def keep(d: Any) -> None:
                for rank, chunk in enumerate(d[0].chunk(self.ranks)):
                    self.products["sequence-gradient"].put((rank, place), chunk)

            result.register_hook(keep)

        return hook

    def _keep_cache(self, rank: int, cached: Any) -> None:
        import torch

        pairs = [(layer.keys[0], layer.values[0]) for layer in cached.layers]
        for number, (keys, values) in enumerate(pairs):
            self.products["keys"].put((rank, number), keys)
            self.products["values"].put((rank, number), values)
        trace = torch.stack([torch.stack([k.swapaxes(0, 1), v.swapaxes(0, 1)], 1) for k, v in pairs], 1)
        self.products["decode"].put((rank,), trace)

    def describe(self, args: argparse.Namespace) -> None:
        """A sidecar beside each file, and on standard output how to make the files datasets."""
        source = {
            "kind": "capture",
            "model": args.model if not Path(args.model).exists() else Path(args.model).name,
            "revision": args.revision or getattr(self.model.config, "_commit_hash", None),
            "text": {"file": args.text.name, "sha256": sha256_of(args.text)},
            "tokens": self.tokens,
            "ranks": self.ranks,
            "layers": self.layers,
            "gradients": [name for name, _ in self.chosen],
            "made_with": _versions(),
        }
        for name, product in self.products.items():
            Sidecar(
                schema=1,
                id=f"{args.name}/{name}",
                title=f"{args.name}: {name}, {self.ranks} ranks x {self.tokens} tokens",
                dtype=product.dtype,
                shape=product.shape,
                ranks="parts",
                parts=self.ranks,
                elements=math.prod(product.shape),
                bytes=product.bytes,
                sha256=sha256_of(product.path),
                unique_bytes=product.bytes,
                minimum=product.least,
                maximum=product.largest,
                missing=None,
                units="1",
                synthetic=False,
                source={**source, "what": name},
                licence=args.licence,
                citation=args.citation,
                native_dtype=self.native,
            ).write(product.path.with_suffix(".json"))
            shape = ",".join(map(str, product.shape))
            form = f"--format raw --dtype {product.dtype} --shape {shape} --parts"
            print(f"collpress dataset register {args.name}/{name} {product.path} {form}")


def load(args: argparse.Namespace) -> tuple[Any, list[list[int]]]:
    """The model and each rank's tokens. Errors: it cannot be had, is no Llama, or the text is too short."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise CollpressError(f"{error.name} is not installed", fix="pip install -r envs/hf.txt") from None
    device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = {"bfloat16": torch.bfloat16, "float32": torch.float32}[args.dtype]
    how = {"revision": args.revision} if args.revision else {}
    try:
        config = transformers.AutoConfig.from_pretrained(args.model, **how)
        if config.model_type != "llama":
            raise CollpressError(f'a model of the type "{config.model_type}"', where=args.model, allowed="llama")
        tokens = _tokens(args, transformers.AutoTokenizer.from_pretrained(args.model, **how))
        model = transformers.AutoModelForCausalLM.from_pretrained(
            args.model, dtype=dtype, attn_implementation="eager", **how
        )
    except (OSError, ValueError) as error:
        raise _unavailable(args.model, error) from None
    return model.to(device).eval(), tokens


def _unavailable(model: str, error: Exception) -> CollpressError:
    """What to say of a model that transformers did not load; its messages name no token."""
    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    gated = any(word in str(error).lower() for word in ("gated", "401", "403", "token"))
    if gated:
        known = "HF_TOKEN is set, but has no access" if os.environ.get("HF_TOKEN") else "HF_TOKEN is not set"
        return CollpressError(f"the model is gated, and {known}", where=model, fix=FIX_GATED)
    fix = "give the name of a model on the Hub, or a directory with config.json, tokenizer and weights"
    return CollpressError(f"cannot load the model: {said[:200]}", where=model, fix=fix)


def _tokens(args: argparse.Namespace, tokenizer: Any) -> list[list[int]]:
    tokens = tokenizer(args.text.read_text(encoding="utf-8"), add_special_tokens=False)["input_ids"]
    needed = args.ranks * args.tokens
    if needed > len(tokens):
        what = f"the text has {len(tokens)} tokens; {args.ranks} ranks with {args.tokens} each need {needed}"
        raise CollpressError(what, where=str(args.text), fix="take fewer, or a longer text: no text is read twice")
    return [tokens[rank * args.tokens : (rank + 1) * args.tokens] for rank in range(args.ranks)]


def _chosen(patterns: Sequence[str], model: Any) -> list[tuple[str, Any]]:
    """Parameters that match a pattern, the last first. Errors: a pattern that matches none."""
    named = list(model.named_parameters())[::-1]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name, _ in named):
            raise CollpressError(
                f'no parameter matches "{pattern}"', where="--gradients", allowed=f"{named[0][0]}, ..."
            )
    return [(name, p) for name, p in named if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _shares(count: int, ranks: int) -> list[slice]:
    ends = [rank * (count // ranks) + min(rank, count % ranks) for rank in range(ranks + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def _versions() -> dict[str, str]:
    import torch
    import transformers

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {"torch": torch.__version__, "transformers": transformers.__version__, "gpu": gpu}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="meta-llama/Meta-Llama-3-8B", help="name on the Hub, or a directory")
    parser.add_argument("--revision", help="commit on the Hub; without it the latest, which the sidecar records")
    parser.add_argument("--name", default="llama3-8b", help="group of the datasets (default: llama3-8b)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--text", type=Path, default=TEXT, metavar="FILE")
    parser.add_argument("--tokens", type=int, default=512, help="of each rank (default: 512)")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--layers", type=int, nargs="*", help="whose activations are kept (default: all)")
    default = ["model.layers.31.self_attn.*", "model.layers.0.self_attn.*"]
    parser.add_argument(
        "--gradients", nargs="+", default=default, metavar="PATTERN", help=f"default: {' '.join(default)}"
    )
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--device", help="default: cuda where there is one, else cpu")
    parser.add_argument(
        "--licence", default="Meta Llama 3 Community License; not to be redistributed without its terms"
    )
    parser.add_argument("--citation", default="AI@Meta: Llama 3 Model Card, 2024.")
    args = parser.parse_args()
    if args.tokens < 2 or args.ranks < 1:
        raise CollpressError("--tokens must be at least 2, --ranks at least 1", where="capture_llama_hf")
    return args


def main() -> int:
    try:
        args = _arguments()
        model, texts = load(args)
        capture = Capture(args, model, texts)
        capture.run()
        capture.describe(args)
    except CollpressError as error:
        print(f"capture_llama_hf: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
