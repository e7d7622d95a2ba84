"""A GGUF file of a tiny Llama with random weights, written value by value, independently of the reader."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, FFN, CONTEXT = 2, 64, 4, 2, 96, 64
THETA, EPSILON = 10_000.0, 1e-5
MERGES = ["t h", "th e", "Ġ the", "Ġ w", "i n", "in d"]


def letters_of_bytes() -> list[str]:
    """GPT-2's letter for each byte, as its authors list them."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters, extra = {byte: chr(byte) for byte in plain}, 0
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + extra)
            extra += 1
    return [letters[byte] for byte in range(256)]


TOKENS = [*letters_of_bytes(), *(merge.replace(" ", "") for merge in MERGES)]


def text(value: str) -> bytes:
    content = value.encode()
    return struct.pack("<Q", len(content)) + content


def value(what: Any) -> bytes:
    """A metadata value with its type in front."""
    if isinstance(what, str):
        return struct.pack("<I", 8) + text(what)
    if isinstance(what, float):
        return struct.pack("<If", 6, what)
    if isinstance(what, list):
        return struct.pack("<IIQ", 9, 8, len(what)) + b"".join(text(one) for one in what)
    return struct.pack("<II", 4, what)


@dataclass
class Stored:
    """One tensor as it lies in the file: lengths with the fastest axis first, type code, bytes."""

    lengths: tuple[int, ...]
    code: int
    content: bytes


@dataclass
class TinyFile:
    about: dict[str, Any]
    tensors: dict[str, Stored]
    alignment: int = 32
    version: int = 3
    offsets: dict[str, int] = field(default_factory=dict)
    """Other offsets than the right ones, by tensor."""

    def head(self) -> bytes:
        head = b"GGUF" + struct.pack("<IQQ", self.version, len(self.tensors), len(self.about))
        head += b"".join(text(key) + value(what) for key, what in self.about.items())
        offset = 0
        for name, one in self.tensors.items():
            head += (
                text(name) + struct.pack("<I", len(one.lengths)) + struct.pack(f"<{len(one.lengths)}Q", *one.lengths)
            )
            head += struct.pack("<IQ", one.code, self.offsets.get(name, offset))
            offset += len(one.content) + -len(one.content) % self.alignment
        return head

    def content(self) -> bytes:
        head = self.head()
        data = b"".join(one.content + bytes(-len(one.content) % self.alignment) for one in self.tensors.values())
        return head + bytes(-len(head) % self.alignment) + data


def paired(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of attn_q or attn_k as llama.cpp stores them: row i and row i + half of a head side by side."""
    half = rows.shape[0] // heads // 2
    order = [head * 2 * half + i + side * half for head in range(heads) for i in range(half) for side in (0, 1)]
    return rows[order]


def f32(values: np.ndarray) -> Stored:
    return Stored(values.shape[::-1], 0, values.astype("<f4").tobytes())


def tiny_file(seed: int = 1) -> tuple[TinyFile, dict[str, np.ndarray]]:
    """The file, and its weights as the model must use them."""
    random = np.random.Generator(np.random.Philox(seed))
    kv = WIDTH // HEADS * KV_HEADS
    shapes = {
        "attn_norm": (WIDTH,),
        "attn_q": (WIDTH, WIDTH),
        "attn_k": (kv, WIDTH),
        "attn_v": (kv, WIDTH),
        "attn_output": (WIDTH, WIDTH),
        "ffn_norm": (WIDTH,),
        "ffn_gate": (FFN, WIDTH),
        "ffn_up": (FFN, WIDTH),
        "ffn_down": (WIDTH, FFN),
    }
    all_shapes = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    all_shapes |= {f"blk.{n}.{part}.weight": shape for n in range(LAYERS) for part, shape in shapes.items()}
    weights = {}
    for name, shape in all_shapes.items():
        spread = 1.0 if len(shape) == 1 else 0.3
        weights[name] = (random.normal(0, spread, shape) + (len(shape) == 1)).astype(np.float32)
    heads = {"attn_q": HEADS, "attn_k": KV_HEADS}
    tensors = {}
    for name, values in weights.items():
        part = name.split(".")[-2]
        tensors[name] = f32(paired(values, heads[part]) if part in heads else values)
    about = {
        "general.architecture": "llama",
        "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": FFN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.rope.freq_base": THETA,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.merges": MERGES,
    }
    return TinyFile(about, tensors), weights
