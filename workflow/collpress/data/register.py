"""`collpress dataset register`: a user's files become an entry in `config/datasets.d/<group>.yaml`.

The files are read once, so that the entry holds their checksums, their shape and the checksum of the prepared values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import yaml
from pydantic import ValidationError

from collpress.data.bfloat16 import numbers
from collpress.data.formats import FILE_BYTES, FORMATS, InFormat, RawValues, stands_for_no_data
from collpress.data.opening import kept, opened, together
from collpress.data.readers.stored import Stored
from collpress.data.registry import Entry, check_own, is_id, own_entries
from collpress.data.tally import Tally
from collpress.errors import CollpressError
from collpress.files import sha256_of, write_atomically
from collpress.spec.document import LARGEST_FILE, is_number, parse_document

SUFFIXES = {
    ".npy": "npy", ".npz": "npz", ".nc": "netcdf", ".nc4": "netcdf", ".cdf": "netcdf", ".pp": "pp",
    ".h5": "hdf5", ".hdf5": "hdf5", ".hdf": "hdf5", ".safetensors": "safetensors", ".pt": "pt", ".pth": "pt",
    ".f32": "raw", ".f64": "raw", ".f16": "raw", ".bf16": "raw", ".bin": "raw", ".raw": "raw", ".dat": "raw",
}  # fmt: skip
_RAW_DTYPES = {".f64": "float64", ".f16": "float16", ".bf16": "bfloat16"}
_KEYS = {
    "netcdf": "variable",
    "npz": "key",
    "hdf5": "dataset",
    "safetensors": "tensors",
    "pt": "tensors",
    "pp": "stash",
}
_KEY_NOUNS = {"key": "array", "tensors": "tensors", "stash": "STASH code"}
_FILES = {
    "raw": "a raw file", "netcdf": "a NetCDF file", "npy": "a .npy file", "npz": "a .npz file", "pp": "a PP file",
    "hdf5": "an HDF5 file", "safetensors": "a .safetensors file", "pt": "a .pt file",
}  # fmt: skip
_OPTIONS = {"missing": "--missing-value", "byte_order": "--byteorder", "shape": "--shape", "convert": "--convert"}
"""What fields of an entry are called on the command line, where that differs or is an option at all."""
WORDS = ("title", "units", "licence", "citation", "note")
"""Fields of an entry that a user fills with words, each by an option of that name."""
_LOOKED_AT = 1 << 20
"""Values of a raw file that its byte order is judged by."""
_WILD, _TAME = 20.0, 12.0
"""Standard deviations of binary exponents: at least, of numbers read in the wrong order; at most, of real ones."""


@dataclass(frozen=True)
class Wish:
    """What a user says of files; what is None is taken from them, or is a default.

    parts : each rank has a part of its own; several files always are parts.
    """

    form: str | None = None
    dtype: str | None = None
    byte_order: str = "little"
    shape: tuple[int, ...] | None = None
    key: tuple[str, ...] = ()
    convert: str | None = None
    missing: float | None = None
    keep_missing: bool = False
    parts: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the entry: title, units, licence, citation, note, private."""


def register(
    name: str, paths: list[Path], wish: Wish, registry: Path, known: Mapping[str, Entry]
) -> tuple[Entry, Path]:
    """Read files, and add their entry to the users' part of a registry.

    Parameters
    ----------
    paths : in the order of ranks where there are several.
    known : the entries of the registry as it is.

    Returns
    -------
    The entry, and the file that holds it.

    Errors
    ------
    CollpressError: an id that cannot be or that is there already; all of the readers; parts of different shapes; a raw
    file whose values look swapped; missing values that nobody wants to keep; a file that was changed by hand beyond
    what can be added to.
    """
    if not is_id(name):
        allowed = "group/name, of lower-case letters, digits, - and _"
        raise CollpressError(f'"{name}" cannot be an id', allowed=allowed)
    if name in known:
        raise CollpressError(f'"{name}" is registered already', fix="give another name, or remove that entry first")
    absent = next((path for path in paths if not path.is_file()), None)
    if absent is not None:
        raise CollpressError("there is no such file", where=str(absent))
    form = _form(paths, wish)
    _refuse_unprintable(wish.about)
    source = _source(form, paths, wish)
    shape, dtype, native = _look(paths, source, wish)
    parts = wish.parts or len(paths) > 1
    document: dict[str, Any] = {
        "title": f"{name}, registered by its user",
        "local": {"files": [_file(path) for path in paths], **source.model_dump(mode="json", exclude_none=True)},
        "dtype": dtype,
        "native_dtype": native,
        "shape": list(shape),
        **({"ranks": "parts"} if parts else {}),
        "units": "unknown",
        **({"missing": "keep"} if wish.keep_missing else {}),
        "licence": "not told",
        "citation": "not told",
        **wish.about,
        "sha256": "0" * 64,
    }
    document["sha256"] = _sha256(paths, source, _entry(name, document))
    entry = _entry(name, document)
    twin = next((other for other in known.values() if other.public_id == entry.public_id), None)
    if twin is not None:
        raise CollpressError(
            f"{name}: its values begin like those of {twin.id}, which is private too", fix=f"use {twin.id}"
        )
    home = own_entries(registry) / f"{name.partition('/')[0]}.yaml"
    _add(home, name, document)
    return entry, home


def _form(paths: list[Path], wish: Wish) -> str:
    suffixes = {path.suffix.lower() for path in paths}
    if wish.form is not None:
        return wish.form
    forms = {SUFFIXES.get(suffix) for suffix in suffixes}
    if len(forms) != 1 or None in forms:
        told = ", ".join(sorted(suffixes - {""}))
        bare = next((path for path in paths if not path.suffix), None)
        what = f"the name {bare.name} has no suffix" if bare is not None else f"the suffix {told} tells no format"
        if None not in forms:
            what = f"the suffixes {told} are of several formats"
        raise CollpressError(what, allowed=", ".join(SUFFIXES), fix=f"--format, one of {', '.join(FORMATS)}")
    return str(forms.pop())


def _source(form: str, paths: list[Path], wish: Wish) -> InFormat:
    """How the values lie in the files."""
    try:
        stands_for_no_data(wish.missing)
    except CollpressError as error:
        raise CollpressError(error.what, where="--missing-value", allowed=error.allowed, fix=error.fix) from None
    said: dict[str, Any] = {"convert": wish.convert, "missing": wish.missing}
    if form == "raw":
        said |= {
            "byte_order": wish.byte_order,
            "dtype": wish.dtype or _RAW_DTYPES.get(paths[0].suffix.lower(), "float32"),
        }
    elif wish.dtype == "bfloat16" and form in ("npy", "npz"):
        said["bits"] = "bfloat16"
    elif wish.dtype is not None:
        raise CollpressError(f"{_FILES[form]} says itself what its values are", fix="leave --dtype out")
    word = _KEYS.get(form)
    if word is None and wish.key:
        raise CollpressError(f"{_FILES[form]} holds one array", fix="leave --key out")
    if "" in wish.key:
        raise CollpressError("--key: the name is empty", fix=_advice(form, paths[0]))
    if word is not None and (not wish.key or (word != "tensors" and len(wish.key) > 1)):
        noun = _KEY_NOUNS.get(word, word)
        raise CollpressError(f"which {noun} of the file?", where=str(paths[0]), fix=_advice(form, paths[0]))
    if word is not None:
        said[word] = list(wish.key) if word == "tensors" else _stash(wish.key[0]) if word == "stash" else wish.key[0]
    if form == "pp":
        said = {"stash": said["stash"]}
    try:
        return InFormat.model_validate({form: {name: value for name, value in said.items() if value is not None}})
    except ValidationError as error:
        first = error.errors()[0]
        raise CollpressError(first["msg"], where=_option(first["loc"][-1:])) from None


def _stash(key: str) -> int:
    if not (key.isascii() and key.isdigit()):
        raise CollpressError(
            f'"{key}" is no STASH code', allowed="a whole number, section * 1000 + item", fix="--key 4"
        )
    return int(key)


def _advice(form: str, path: Path) -> str:
    option = "--variable NAME" if form == "netcdf" else "--key NAME"
    return f"say {option}; for example --key 'model.layers.0.*'" if form in ("safetensors", "pt") else f"say {option}"


def _look(paths: list[Path], source: InFormat, wish: Wish) -> tuple[tuple[int, ...], str, str]:
    """The shape of all files together, their values' dtype, and the one in the files."""
    shapes: list[tuple[int, ...]] = []
    told = set()
    for path in paths:
        stored = opened(path, source, _shape(path, source.raw, wish))
        if source.raw is not None:
            _refuse_swapped(stored, source.raw, path)
        shape = stored.values.shape
        if wish.shape is not None and shape != wish.shape:
            raise CollpressError(f"the shape is {_text(shape)}", where=str(path), allowed=_text(wish.shape))
        if not stored.values.size:
            raise CollpressError("there is no value in it", where=str(path), allowed="at least one")
        if shapes and shape != shapes[0]:
            what = f"{paths[0]} has the shape {_text(shapes[0])}, {path} {_text(shape)}"
            fix = "cut the longer ones, or register one by one"
            raise CollpressError(what, allowed="parts of one shape", fix=fix)
        shapes.append(shape)
        nothing = replace(stored, values=stored.values.reshape(-1)[:0])
        told.add((kept(nothing, source, str(path))[1], stored.dtype))
    if len(told) > 1:
        raise CollpressError(f"the files hold {', '.join(sorted(native for _, native in told))}", allowed="one dtype")
    ((dtype, native),) = told
    return ((len(paths), *shapes[0]) if len(paths) > 1 else shapes[0]), dtype, native


def _sha256(paths: list[Path], source: InFormat, entry: Entry) -> str:
    """Of the values as they will be prepared. Errors: some are missing, and nobody wants to keep them."""
    values = together(paths, source, entry)
    tally = Tally(entry, values.missing)
    for piece in values():
        tally.take(piece)
    tally.refuse_missing()
    return tally.sha256


def _shape(path: Path, form: RawValues | None, wish: Wish) -> tuple[int, ...]:
    """What a raw file is read with: as told, or flat."""
    if form is None:
        return ()
    size, found = FILE_BYTES[form.dtype], path.stat().st_size
    if wish.shape is not None:
        return wish.shape
    if found == 0 or found % size:
        raise CollpressError(f"{found} bytes are no whole number of {form.dtype} values", where=str(path))
    return (found // size,)


def _refuse_swapped(stored: Stored, form: RawValues, path: Path) -> None:
    """Numbers that were read in the wrong byte order are of all magnitudes; those of the right one are not."""
    first = np.array(stored.values.reshape(-1)[:_LOOKED_AT])
    as_told, turned = _spread(first, stored.dtype), _spread(first.byteswap(), stored.dtype)
    if as_told > _WILD and turned < _TAME:
        other = "little" if form.byte_order == "big" else "big"
        raise CollpressError(
            f"read as {form.byte_order}-endian, the values are of all magnitudes; as {other}-endian they are not",
            where=str(path),
            fix=f"--byteorder {other}",
        )


def _spread(values: Any, dtype: str) -> float:
    """Standard deviation of the binary exponents, in units of float32's; infinite where hardly a value has one."""
    with np.errstate(all="ignore"):
        wide = (numbers(values) if dtype == "bfloat16" else values).astype(np.float64)
        usable = wide[np.isfinite(wide) & (wide != 0)]
        exponents = np.log2(np.abs(usable))
    bits = {"float64": 2**10, "float16": 2**4}.get(dtype, 2**7)
    return float(np.std(exponents)) * 2**7 / bits if usable.size > values.size // 100 else math.inf


def _file(path: Path) -> dict[str, Any]:
    """A file as it is now; inside the checkout by its place there, so that the checkout may move."""
    whole, here = path.resolve(), Path.cwd().resolve()
    place = whole.relative_to(here) if whole.is_relative_to(here) else whole
    return {"path": place.as_posix(), "bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _entry(name: str, document: dict[str, Any]) -> Entry:
    try:
        entry = Entry.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{name}: {_option(first['loc'])}" if first["loc"] else name
        what = "it is empty" if first["type"] == "string_too_short" else first["msg"].removeprefix("Value error, ")
        raise CollpressError(what, where=where) from None
    entry._id = name
    return entry


def _option(field_path: tuple[int | str, ...]) -> str:
    """What a user calls the field of an entry that is wrong."""
    name = str(field_path[0]) if field_path else ""
    return _OPTIONS.get(name) or (f"--{name}" if name in WORDS else ".".join(map(str, field_path)))


def _refuse_unprintable(about: Mapping[str, Any]) -> None:
    for word, text in about.items():
        odd = next((c for c in str(text) if not c.isprintable()), None)
        if odd is not None:
            what = f"there is a control character in it, U+{ord(odd):04X}"
            raise CollpressError(what, where=f"--{word}", allowed="printable text on one line")


def _add(home: Path, name: str, document: dict[str, Any]) -> None:
    """Put the entry behind those that the file has; what stands there, comments too, stays as it is."""
    head = "# Datasets that were registered with `collpress dataset register`.\nschema: 1\ndatasets:\n"
    before = home.read_text(encoding="utf-8") if home.exists() else head
    text = yaml.dump({name: document}, Dumper=_Quoting, sort_keys=False, allow_unicode=True, width=120)
    after = f"{before.rstrip()}\n\n{indent(text, '  ')}" if home.exists() else head + indent(text, "  ")
    if home.exists() and _in_flow_style(before, str(home)):
        what = "this file is written in YAML's flow style, {...}: nothing can be put behind its entries"
        raise CollpressError(
            what, where=str(home), fix="write it in block style, one key a line, or choose another group"
        )
    parsed = parse_document(after, str(home)).data
    names = parsed.get("datasets") if isinstance(parsed, dict) else None
    if not isinstance(names, dict) or name not in names or len(after.encode("utf-8")) > LARGEST_FILE:
        fix = f"choose another group than {name.partition('/')[0]}, or shorten the file"
        raise CollpressError("nothing can be added to this file", where=str(home), fix=fix)
    check_own(after, home)
    write_atomically(home, after.encode("utf-8"))


def _in_flow_style(text: str, path: str) -> bool:
    """Whether a file that can be read puts its entries between braces."""
    parse_document(text, path)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    nodes = [root] + ([value for _, value in root.value] if isinstance(root, yaml.MappingNode) else [])
    return any(isinstance(node, yaml.MappingNode) and node.flow_style for node in nodes)


class _Quoting(yaml.SafeDumper):
    """Text that `parse_document` would take for a number (1e-3, 08) is quoted, too."""


_Quoting.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if is_number(text) else None),
)


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "that of a single number"
