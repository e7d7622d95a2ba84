"""Captured tensors: from the registry's word to an array, by a pass that all datasets of its kind share.

A pass runs once for all that it can give: what another dataset may want stays in `results/cache/captures/`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy.typing as npt

from collpress.data import download
from collpress.data.access import Access
from collpress.data.llama.job import Request
from collpress.data.llama.products import FORWARD, PARTIAL, load
from collpress.data.sources import CaptureSource, Text
from collpress.data.turn import turn
from collpress.errors import CollpressError
from collpress.files import make_directory, sha256_of
from collpress.layout import ROOT

_HERE = Access()
_WORKFLOW = Path(__file__).resolve().parents[3]
LIBRARIES = ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")
ONE_THREAD = {f"{library}_{'' if '_' in library else 'NUM_'}THREADS": "1" for library in LIBRARIES}
"""For every library that may multiply matrices for numpy."""


def captured(
    source: CaptureSource, cache: Path, dataset: str, shape: tuple[int, ...], access: Access = _HERE
) -> npt.NDArray[Any]:
    """The tensors that an entry stands for: float32, or the bits of bfloat16 as uint16; mapped from the cache.

    Parameters
    ----------
    cache : holds the model's file, and the captures.
    dataset : who asks, for messages.
    shape : what the registry expects; another one is refused before anything is computed.
    access : whether an index may be asked for the model, and which directories may have it.

    Errors
    ------
    CollpressError: the model cannot be fetched; the text has another sha256; all of `job.run`.
    """
    places = _places(source, cache)
    path = places[source.what]
    if not path.is_file():
        text = _text(source.text, dataset)
        file = download.member(source.model, cache, access)
        make_directory(path.parent)
        with turn(path.parent / ".lock"):
            if not path.is_file():  # the one before may have made it
                _run(source, file, text, places, dataset, shape)
    return load(path, shape, source.what)


def share(source: CaptureSource, cache: Path, prepared: Path) -> None:
    """Make one file of prepared values and capture, which are the same bytes; where that cannot be, two stay."""
    path = _places(source, cache)[source.what]
    twin = path.with_name(f".{path.name}.{os.getpid()}.link")
    with suppress(OSError):
        os.link(prepared, twin)
        twin.replace(path)
        twin.unlink(missing_ok=True)  # still there where both were one file already


def forget(source: CaptureSource, cache: Path, damaged: Path) -> None:
    """Delete the capture if it is one file with prepared values that were damaged: the next pass makes it anew."""
    path = _places(source, cache)[source.what]
    if path.is_file() and path.samefile(damaged):
        path.unlink()


def _places(source: CaptureSource, cache: Path) -> dict[str, Path]:
    """Where each product of the source's pass lies: the name holds all that its values depend on."""
    made_of = [_sources(), source.model.member_sha256, source.text.sha256, source.tokens, source.ranks]
    kept: dict[str, Any] = dict.fromkeys(("residual", *PARTIAL), source.layers) | {"gradients": source.gradients}
    directory = cache / "captures" / f"{source.model.name}-{source.ranks}x{source.tokens}-{_digest(made_of)}"
    products = (*FORWARD, "gradients") if source.gradients else FORWARD
    return {what: directory / f"{what}-{_digest(kept.get(what))}.bin" for what in products}


def _run(
    source: CaptureSource, file: Path, text: Path, places: dict[str, Path], dataset: str, shape: tuple[int, ...]
) -> None:
    request = Request(
        asked=source.what,
        shape=shape,
        gguf=file.absolute(),
        weights_sha256=source.model.weights_sha256,
        text=text,
        tokens=source.tokens,
        ranks=source.ranks,
        layers=source.layers,
        gradients=source.gradients,
        products={what: place.absolute() for what, place in places.items() if not place.is_file()},
    )
    print(
        f"{dataset}: running {source.model.name} on {source.ranks} x {source.tokens} tokens, on one processor",
        file=sys.stderr,
        flush=True,
    )
    done = _start(request)
    if done.returncode == CollpressError.exit_code and done.stdout:
        told = json.loads(done.stdout)
        where = f"{dataset}: {told['where']}" if told.get("where") else dataset
        raise CollpressError(told["what"], where=where, allowed=told.get("allowed", ""), fix=told.get("fix", ""))
    if done.returncode:
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        fix = "see what it wrote above" if done.returncode > 0 else "free some memory and try again"
        raise CollpressError(f"the capture ended with {ended}", where=dataset, fix=fix)


def _start(request: Request) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "collpress.data.llama"],
        input=request.model_dump_json().encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(_WORKFLOW)},
    )


def _text(text: Text, dataset: str) -> Path:
    path = ROOT / text.file
    if not path.is_file():
        raise CollpressError(f"the text {text.file} is not there", where=dataset, fix="a path relative to the checkout")
    if (found := sha256_of(path)) != text.sha256:
        raise CollpressError(
            f"wrong checksum of the text: expected sha256 {text.sha256}, found {found}",
            where=str(path),
            fix="take it from the repository again, or give a text of your own its own entry",
        )
    return path


@once
def _sources() -> str:
    """Of the modules that decide about a product's values: after a change nothing older is used."""
    return _digest([hashlib.sha256(path.read_bytes()).hexdigest() for path in value_modules()])


def value_modules() -> list[Path]:
    """Those of this room, and the one that rounds to bfloat16."""
    room = Path(__file__).parent
    return [*sorted(room.glob("*.py")), room.parent / "bfloat16.py"]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]
