"""GGUF files, version 3 or 2: what they say of a model, and its tensors where they lie in the mapped file.

Source of the layout: the GGUF specification (ggml, docs/gguf.md). A file is taken for hostile: nothing is read beyond
its end, nothing is reserved because it says so, and every count is checked against the bytes that are left.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 10: "<Q", 11: "<q", 12: "<d"}
_BOOL, _STRING, _ARRAY = 7, 8, 9
_LONGEST_NAME = 64
_LONGEST_KEY = 65535
_MOST_AXES = 4
_LARGEST_ALIGNMENT = 1 << 16


@dataclass(frozen=True)
class Encoding:
    """How a tensor's values are stored: in blocks of so many values, each so many bytes long."""

    name: str
    values: int
    bytes: int


ENCODINGS = {0: Encoding("F32", 1, 4), 3: Encoding("Q4_1", 32, 20), 8: Encoding("Q8_0", 32, 34)}


@dataclass(frozen=True)
class Tensor:
    """One tensor: `shape` in C order, slowest axis first; `blocks` is a view of the mapped file."""

    name: str
    shape: tuple[int, ...]
    encoding: Encoding
    blocks: memoryview


@dataclass(frozen=True)
class Gguf:
    """A whole file: `about` as it stands there, by key, and the tensors by name. `path` is for messages."""

    path: Path
    about: dict[str, Any]
    tensors: dict[str, Tensor]

    def value(self, key: str, kind: type | tuple[type, ...]) -> Any:
        """What the file says under a key. Errors: it says nothing there, or something of another type."""
        if key not in self.about:
            raise CollpressError(f'the file does not say "{key}"', where=str(self.path), fix="take another GGUF file")
        found = self.about[key]
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise CollpressError(
                f'"{key}" is of an unexpected type', where=str(self.path), fix="take another GGUF file"
            )
        return found

    def tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """The tensor of a name. Errors: there is none, or it has another shape."""
        if name not in self.tensors:
            raise CollpressError(f'the file has no tensor "{name}"', where=str(self.path), fix="take another GGUF file")
        found = self.tensors[name]
        if found.shape != shape:
            raise CollpressError(
                f'the tensor "{name}" has the shape {list(found.shape)}', where=str(self.path), allowed=f"{list(shape)}"
            )
        return found


def read(path: Path) -> Gguf:
    """Map a file and read its head; the tensors' values are read when they are used.

    Errors
    ------
    CollpressError: not readable, no GGUF file or one of another version, cut short, or saying what cannot be (a length
    beyond the end, a tensor outside the file or over another one, an encoding that collpress does not read).
    """
    try:
        with path.open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise CollpressError(f"cannot read: {error.strerror}", where=str(path)) from None
    except ValueError:
        raise CollpressError("the file is empty", where=str(path), fix="fetch it again") from None
    return _Head(path, content).read()


class _Head:
    """The head of a file, read from front to back."""

    def __init__(self, path: Path, content: memoryview) -> None:
        self._path, self._content, self._at = path, content, 0

    def read(self) -> Gguf:
        if bytes(self._take(4, "the magic")) != b"GGUF":
            raise self._wrong("no GGUF file: it does not begin with GGUF")
        version = self._number("<I", "the version")
        if version not in {2, 3}:
            raise self._wrong(f"version {version} of GGUF", allowed="3 or 2, little-endian")
        tensors, keys = self._number("<Q", "a count"), self._number("<Q", "a count")
        self._afford(keys, 8 + 4 + 1, "keys")  # a key's length, a type, a value of at least one byte
        about: dict[str, Any] = {}
        for _ in range(keys):
            key = self._text(_LONGEST_KEY, "a key")
            if key in about:
                raise self._wrong(f'the key "{_shown(key)}" stands there twice')
            about[key] = self._value(self._number("<I", "a type"), f'"{_shown(key)}"', depth=0)
        self._afford(tensors, 8 + 4 + 8 + 4 + 8, "tensors")
        heads = [self._tensor_head() for _ in range(tensors)]
        return Gguf(self._path, about, self._placed(heads, self._alignment(about)))

    def _tensor_head(self) -> tuple[str, tuple[int, ...], Encoding, int]:
        name = self._text(_LONGEST_NAME, "a tensor's name")
        what = f'tensor "{_shown(name)}"'
        axes = self._number("<I", what)
        if not 1 <= axes <= _MOST_AXES:
            raise self._wrong(f"{what} has {axes} axes", allowed=f"1 to {_MOST_AXES}")
        lengths = tuple(self._number("<Q", what) for _ in range(axes))
        code, offset = self._number("<I", what), self._number("<Q", what)
        if code not in ENCODINGS:
            known = ", ".join(f"{number} ({encoding.name})" for number, encoding in ENCODINGS.items())
            raise self._wrong(f"{what} has the encoding {code}", allowed=known)
        if 0 in lengths or lengths[0] % ENCODINGS[code].values:
            raise self._wrong(f"{what} has the lengths {list(lengths)}", allowed="whole blocks of values, at least one")
        return name, lengths[::-1], ENCODINGS[code], offset

    def _placed(self, heads: list[tuple[str, tuple[int, ...], Encoding, int]], alignment: int) -> dict[str, Tensor]:
        """The tensors with their bytes: each inside the file, at an aligned place, and none over another."""
        start = -(-self._at // alignment) * alignment
        room = len(self._content) - start
        tensors: dict[str, Tensor] = {}
        taken = []
        for name, shape, encoding, offset in heads:
            what = f'tensor "{_shown(name)}"'
            length = math.prod(shape) // encoding.values * encoding.bytes
            if offset % alignment or offset > room or length > room - offset:
                raise self._wrong(f"{what} does not lie in the file, or not at a multiple of {alignment} bytes")
            if name in tensors:
                raise self._wrong(f"{what} stands there twice")
            taken.append((offset, length, what))
            begin = start + offset
            tensors[name] = Tensor(name, shape, encoding, self._content[begin : begin + length])
        taken.sort()
        for (offset, length, what), (following, _, other) in pairwise(taken):
            if offset + length > following:
                raise self._wrong(f"{what} lies over {other}")
        return tensors

    def _alignment(self, about: dict[str, Any]) -> int:
        alignment = about.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 8 <= alignment <= _LARGEST_ALIGNMENT or alignment % 8:
            allowed = f"a multiple of 8, at most {_LARGEST_ALIGNMENT}"
            raise self._wrong(f'"general.alignment" is {_shown(str(alignment))}', allowed=allowed)
        return alignment

    def _value(self, kind: int, what: str, depth: int) -> Any:
        if kind in _SCALARS:
            return self._number(_SCALARS[kind], what)
        if kind == _BOOL:
            number = self._number("<B", what)
            if number > 1:
                raise self._wrong(f"{what} is the truth value {number}", allowed="0 or 1")
            return bool(number)
        if kind == _STRING:
            return self._text(len(self._content), what)
        if kind == _ARRAY and depth == 0:
            return self._array(what, depth + 1)
        raise self._wrong(f"{what} is of type {kind}", allowed="a number, a truth value, text, or a list of these")

    def _array(self, what: str, depth: int) -> list[Any]:
        kind, count = self._number("<I", what), self._number("<Q", what)
        if kind in _SCALARS:
            form = _SCALARS[kind]
            self._afford(count, struct.calcsize(form), f"values of {what}")
            return [number for (number,) in struct.iter_unpack(form, self._take(count * struct.calcsize(form), what))]
        self._afford(count, 8 if kind == _STRING else 1, f"values of {what}")
        return [self._value(kind, what, depth) for _ in range(count)]

    def _text(self, longest: int, what: str) -> str:
        length = self._number("<Q", what)
        if length > longest:
            raise self._wrong(f"{what} is {length} bytes long", allowed=f"at most {longest}")
        try:
            return str(self._take(length, what), "utf-8")
        except UnicodeDecodeError:
            raise self._wrong(f"{what} is not UTF-8") from None

    def _number(self, form: str, what: str) -> Any:
        (number,) = struct.unpack(form, self._take(struct.calcsize(form), what))
        return number

    def _take(self, count: int, what: str) -> memoryview:
        if count > len(self._content) - self._at:
            raise self._wrong(f"it ends inside {what}", fix="it was cut short: fetch it again")
        piece = self._content[self._at : self._at + count]
        self._at += count
        return piece

    def _afford(self, count: int, each: int, what: str) -> None:
        if count > (len(self._content) - self._at) // each:
            raise self._wrong(f"it claims {count} {what}, more than it has bytes for", fix="fetch it again")

    def _wrong(self, what: str, *, allowed: str = "", fix: str = "") -> CollpressError:
        return CollpressError(what, where=f"{self._path}, byte {self._at}", allowed=allowed, fix=fix)


def _shown(text: str) -> str:
    """Text of the file as it may stand in a message."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"
