"""Text is cut and merged as the model was trained, and comes back unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import TOKENS, TinyFile, tiny_file

from collpress.data.llama import gguf
from collpress.data.llama.tokenizer import Tokenizer, pieces
from collpress.errors import CollpressError


@pytest.fixture
def tokenizer(tiny_path: Path) -> Tokenizer:
    return Tokenizer(gguf.read(tiny_path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's 42  %, né?", ["It", "'s", " ", "4", "2", " ", " %,", " né", "?"]),
        ("we'll I'LL don't", ["we", "'ll", " I", "'", "LL", " don", "'t"]),
        ("a  b\n\n c \t", ["a", " ", " b", "\n\n", " c", " \t"]),
        (" x2y ", [" x", "2", "y", " "]),
        ("２½ ²³", ["２", "½", " ", "²", "³"]),
        ("日本語 — ok_go", ["日本語", " —", " ok", "_", "go"]),
        ("x\u00a0\u2003y", ["x", "\u00a0", "\u2003", "y"]),
        ("né'S'ſ", ["né", "'", "S", "'", "ſ"]),
        ("", []),
    ],
)
def test_words_digits_signs_and_spaces_are_told_apart(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@given(st.text(max_size=40))
def test_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_pairs_are_merged_by_rank_and_never_across_pieces(tokenizer: Tokenizer) -> None:
    def named(text: str) -> list[str]:
        return [TOKENS[token] for token in tokenizer.encode(text)]

    assert named("the wind") == ["the", "Ġw", "ind"]
    assert named(" then the") == ["Ġthe", "n", "Ġthe"]
    assert named("t he") == ["t", "Ġ", "h", "e"]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(text: str) -> None:
    tokenizer = Tokenizer(gguf.Gguf(Path("tiny"), tiny_file()[0].about, {}))
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_byte_without_a_token_is_named() -> None:
    about = tiny_file()[0].about
    lacking = {**about, "tokenizer.ggml.tokens": [t for t in about["tokenizer.ggml.tokens"] if t != "z"]}
    with pytest.raises(CollpressError, match="the bytes 7A, for which the vocabulary has no token"):
        Tokenizer(gguf.Gguf(Path("tiny"), lacking, {})).encode("zoo")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tokenizer.ggml.model": "llama"}, "'gpt2', 'smollm'"),
        ({"tokenizer.ggml.pre": "qwen2"}, "variant 'qwen2'"),
        ({"tokenizer.ggml.merges": "t h"}, "unexpected type"),
    ],
)
def test_another_kind_of_tokenizer_is_refused(
    hostile: Callable[[bytes], Path], change: dict[str, object], told: str
) -> None:
    file = tiny_file()[0]
    with pytest.raises(CollpressError) as caught:
        Tokenizer(gguf.read(hostile(TinyFile({**file.about, **change}, file.tensors).content())))
    assert told in str(caught.value)
