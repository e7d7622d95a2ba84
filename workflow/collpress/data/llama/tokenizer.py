"""Byte-level byte-pair encoding, with the vocabulary and the merges that a GGUF file holds.

Source: GPT-2's tokenizer (Radford et al. 2019) in the variant of SmolLM2: each digit stands alone, then GPT-2's
pattern cuts words. Text is cut by classes of letters, with the classes of Unicode and Python's own `re`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from collpress.data.llama.gguf import Gguf
from collpress.errors import CollpressError

_DIGIT_OR_REST = re.compile(r"[0-9]|[^0-9]+")
_PIECE = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[A-Za-z]+|[0-9]| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII)


class Tokenizer:
    """Text to tokens and back.

    Errors
    ------
    CollpressError: the file holds no tokenizer of this kind.
    """

    def __init__(self, gguf: Gguf) -> None:
        model, variant = gguf.value("tokenizer.ggml.model", str), gguf.about.get("tokenizer.ggml.pre")
        if (model, variant) != ("gpt2", "smollm"):
            raise CollpressError(
                f"a tokenizer {model!r} of the variant {variant!r}", where=str(gguf.path), allowed="'gpt2', 'smollm'"
            )
        tokens, merges = gguf.value("tokenizer.ggml.tokens", list), gguf.value("tokenizer.ggml.merges", list)
        if not all(isinstance(text, str) for text in (*tokens, *merges)):
            raise CollpressError("the vocabulary and the merges must be lists of text", where=str(gguf.path))
        self._letters = _letters_of_bytes()
        self._bytes = {letter: byte for byte, letter in enumerate(self._letters)}
        self._tokens = tokens
        self._numbers = {text: number for number, text in enumerate(tokens)}
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._encoded = lru_cache(maxsize=1 << 14)(self._merged)

    @property
    def size(self) -> int:
        """Tokens of the vocabulary."""
        return len(self._tokens)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without marks for its beginning or end; special tokens are taken as plain text.

        Errors: the text has bytes that the vocabulary has no token for.
        """
        return [token for piece in pieces(text) for token in self._encoded(piece)]

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens; bytes that are no UTF-8 become U+FFFD."""
        letters = "".join(self._tokens[token] for token in tokens)
        return bytes(self._bytes[letter] for letter in letters).decode("utf-8", errors="replace")

    def _merged(self, piece: str) -> tuple[int, ...]:
        """A piece's tokens: of all neighbours the pair of the lowest rank is joined, until no pair has a rank."""
        parts = [self._letters[byte] for byte in piece.encode("utf-8")]
        while len(parts) > 1:
            pairs = pairwise(parts)
            rank, best = min((self._ranks.get(pair, len(self._ranks)), pair) for pair in pairs)
            if rank == len(self._ranks):
                break
            joined: list[str] = []
            at = 0
            while at < len(parts):
                if tuple(parts[at : at + 2]) == best:
                    joined.append(parts[at] + parts[at + 1])
                    at += 2
                else:
                    joined.append(parts[at])
                    at += 1
            parts = joined
        return tuple(self._numbers[part] if part in self._numbers else self._unknown(part) for part in parts)

    def _unknown(self, part: str) -> int:
        what = " ".join(f"{self._bytes[letter]:02X}" for letter in part)
        raise CollpressError(
            f"the text has the bytes {what}, for which the vocabulary has no token", fix="take a text without them"
        )


def pieces(text: str) -> list[str]:
    """A text cut where no token reaches across: digits, words with the space before them, signs, runs of space.

    >>> pieces("It's 42  %, né?")
    ['It', "'s", ' ', '4', '2', ' ', ' %,', ' né', '?']
    """
    classes = "".join(letter if letter < "\x80" else _class(letter) for letter in text)
    spans = [
        (run.start() + piece.start(), run.start() + piece.end())
        for run in _DIGIT_OR_REST.finditer(classes)
        for piece in _PIECE.finditer(run.group())
    ]
    return [text[begin:end] for begin, end in spans]


@lru_cache(maxsize=1 << 12)
def _class(letter: str) -> str:
    """An ASCII letter that stands for the class of another one; no lower-case one, which may end a contraction."""
    kind = unicodedata.category(letter)[0]
    return "A" if kind == "L" else "0" if kind == "N" else "\t" if letter.isspace() else "!"


def _letters_of_bytes() -> list[str]:
    """GPT-2's letter for each byte: itself where it can be printed, else one from U+0100 on, in order."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]
