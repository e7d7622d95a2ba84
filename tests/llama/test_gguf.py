"""A GGUF file is read to the letter, and none of what a broken or hostile one says is believed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_model import LAYERS, Stored, TinyFile, f32, text, tiny_file, value

from collpress.data.llama import gguf
from collpress.data.llama.blocks import dequantised
from collpress.data.llama.model import checksum, load
from collpress.errors import CollpressError


def small(**tensors: Stored) -> TinyFile:
    return TinyFile({"general.architecture": "llama"}, tensors or {"a": f32(np.arange(6.0).reshape(2, 3))})


def test_metadata_and_tensors_are_those_that_were_written(tiny_path: Path) -> None:
    written, weights = tiny_file()
    read = gguf.read(tiny_path)
    assert read.about.keys() == written.about.keys()
    assert read.about["tokenizer.ggml.merges"] == written.about["tokenizer.ggml.merges"]
    assert read.about["llama.block_count"] == LAYERS
    assert {name: tensor.shape for name, tensor in read.tensors.items()} == {n: w.shape for n, w in weights.items()}


def test_rows_of_queries_and_keys_are_put_back_into_the_order_of_training(tiny_path: Path) -> None:
    weights = tiny_file()[1]
    model = load(gguf.read(tiny_path))
    assert all(np.array_equal(model.weights[name], weights[name]) for name in weights)
    swapped = {**model.weights, "blk.0.attn_q.weight": model.weights["blk.1.attn_q.weight"]}
    assert checksum(model) != checksum(type(model)(model.sizes, swapped))


def test_every_metadata_type_is_read(hostile: Callable[[bytes], Path]) -> None:
    forms = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 10: "<Q", 11: "<q", 12: "<d"}
    keys = [text(f"k{kind}") + struct.pack("<I", kind) + struct.pack(form, 7) for kind, form in forms.items()]
    keys += [text("k7") + struct.pack("<IB", 7, 1), text("list") + struct.pack("<IIQ3i", 9, 5, 3, -1, 0, 1)]
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys)
    assert gguf.read(hostile(head)).about == {**{f"k{kind}": 7 for kind in forms}, "k7": True, "list": [-1, 0, 1]}


def test_blocks_are_scaled_and_shifted_as_ggml_says(hostile: Callable[[bytes], Path]) -> None:
    random = np.random.Generator(np.random.Philox(2))
    content, expected = {3: b"", 8: b""}, {3: [], 8: []}
    for _ in range(6):
        scale, least = (np.float16(x) for x in random.normal(0, 1, 2))
        pairs, levels = random.integers(0, 256, 16).tolist(), random.integers(-128, 128, 32).tolist()
        content[3] += scale.tobytes() + least.tobytes() + bytes(pairs)
        nibbles = [pair & 15 for pair in pairs] + [pair >> 4 for pair in pairs]
        expected[3] += [np.float32(np.float32(scale) * np.float32(n)) + np.float32(least) for n in nibbles]
        content[8] += scale.tobytes() + np.array(levels, "i1").tobytes()
        expected[8] += [np.float32(scale) * np.float32(level) for level in levels]
    file = small(q4=Stored((64, 3), 3, content[3]), q8=Stored((96, 2), 8, content[8]))
    tensors = gguf.read(hostile(file.content())).tensors
    for name, code, shape in (("q4", 3, (3, 64)), ("q8", 8, (2, 96))):
        values = dequantised(tensors[name])
        assert values.dtype == np.float32
        assert np.array_equal(values, np.array(expected[code], np.float32).reshape(shape))


def test_a_file_that_is_cut_anywhere_is_refused(hostile: Callable[[bytes], Path]) -> None:
    whole = small().content()
    gguf.read(hostile(whole))
    padding = -24 % 32  # behind the last tensor
    for length in range(len(whole) - padding):
        with pytest.raises(CollpressError):
            gguf.read(hostile(whole[:length]))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_file_with_changed_bytes_is_read_or_refused(
    hostile: Callable[[bytes], Path], changes: list[tuple[int, int]]
) -> None:
    content = bytearray(small().content())
    for place, byte in changes:
        content[place % len(content)] = byte
    with suppress(CollpressError):
        for tensor in gguf.read(hostile(bytes(content))).tensors.values():
            dequantised(tensor)


def counted(tensors: int, keys: int, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + rest


def key(content: bytes) -> bytes:
    return counted(0, 1, text("k") + content)


HUGE = 1 << 62
HOSTILE = {
    "empty": (b"", "the file is empty"),
    "another format": (b"PK\x03\x04" + bytes(60), "no GGUF file"),
    "a page of a web server": (b"<html>please log in</html>", "no GGUF file"),
    "version 1": (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648"),
    "too many keys": (counted(0, HUGE), "more than it has bytes for"),
    "too many tensors": (counted(HUGE, 0), "more than it has bytes for"),
    "a long text": (key(struct.pack("<IQ", 8, HUGE)), "bytes long"),
    "a long list": (key(struct.pack("<IIQ", 9, 4, HUGE) + bytes(64)), "more than it has bytes for"),
    "a long list of text": (key(struct.pack("<IIQ", 9, 8, HUGE) + bytes(64)), "more than it has bytes for"),
    "a list of lists": (key(struct.pack("<IIQIIQ", 9, 9, 1, 9, 9, 1) + bytes(64)), "is of type 9"),
    "an unknown type": (key(struct.pack("<IQ", 13, 0)), "is of type 13"),
    "no truth value": (key(struct.pack("<IB", 7, 2) + bytes(9)), "truth value 2"),
    "no UTF-8": (key(struct.pack("<IQ", 8, 2) + b"\xff\xfe" + bytes(9)), "is not UTF-8"),
    "a key twice": (counted(0, 2, 2 * (text("k") + value(1))), "stands there twice"),
    "alignment 0": (counted(0, 1, text("general.alignment") + value(0)), '"general.alignment" is 0'),
    "alignment 7": (counted(0, 1, text("general.alignment") + value(7)), "a multiple of 8"),
    "no axis": (small(a=Stored((), 0, bytes(4))).content(), "has 0 axes"),
    "five axes": (small(a=Stored((1,) * 5, 0, bytes(4))).content(), "has 5 axes"),
    "an unknown encoding": (small(a=Stored((32,), 2, bytes(18))).content(), "the encoding 2"),
    "half a block": (small(a=Stored((48, 2), 3, bytes(60))).content(), "whole blocks"),
    "no value": (small(a=Stored((32, 0), 3, bytes(4))).content(), "at least one"),
    "sizes that overflow": (small(a=Stored((1 << 32, 1 << 32), 0, bytes(64))).content(), "does not lie in the file"),
    "an offset beyond the end": (
        TinyFile({}, {"a": f32(np.zeros(8))}, offsets={"a": 1 << 40}).content(),
        "does not lie in the file",
    ),
    "an offset between": (TinyFile({}, {"a": f32(np.zeros(80))}, offsets={"a": 4}).content(), "a multiple of 32"),
    "one over the other": (
        TinyFile({}, {"a": f32(np.zeros(80)), "b": f32(np.zeros(80))}, offsets={"b": 32}).content(),
        'tensor "a" lies over tensor "b"',
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_gets_one_clear_message(hostile: Callable[[bytes], Path], what: str) -> None:
    content, told = HOSTILE[what]
    with pytest.raises(CollpressError) as caught:
        gguf.read(hostile(content))
    assert told in str(caught.value)
    assert "hostile.gguf" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match=r"nowhere\.gguf: cannot read: No such file"):
        gguf.read(tmp_path / "nowhere.gguf")


def broken(change: Callable[[TinyFile], object]) -> bytes:
    file = tiny_file()[0]
    change(file)
    return file.content()


MODELS = {
    "another architecture": (lambda f: f.about.update({"general.architecture": "gpt2"}), "the architecture 'gpt2'"),
    "a size that is missing": (lambda f: f.about.pop("llama.block_count"), 'does not say "llama.block_count"'),
    "a size that is text": (lambda f: f.about.update({"llama.block_count": "2"}), "unexpected type"),
    "heads that do not divide": (lambda f: f.about.update({"llama.attention.head_count": 5}), "do not go together"),
    "no layer": (lambda f: f.about.update({"llama.block_count": 0}), "do not go together"),
    "more layers than tensors": (
        lambda f: f.about.update({"llama.block_count": 1 << 31}),
        "layers, but 20 tensors",
    ),
    "a missing tensor": (lambda f: f.tensors.pop("blk.1.ffn_up.weight"), 'no tensor "blk.1.ffn_up.weight"'),
    "a tensor of another shape": (
        lambda f: f.tensors.update({"blk.0.ffn_up.weight": f32(np.zeros((96, 32)))}),
        "[96, 32]",
    ),
    "a head of its own": (lambda f: f.tensors.update({"output.weight": f32(np.zeros((262, 64)))}), "output.weight"),
}


@pytest.mark.parametrize("what", MODELS)
def test_a_model_that_is_no_such_llama_is_refused(hostile: Callable[[bytes], Path], what: str) -> None:
    change, told = MODELS[what]
    with pytest.raises(CollpressError) as caught:
        load(gguf.read(hostile(broken(change))))
    assert told in str(caught.value)
