"""`from collpress import codecs`: arrays of any shape to bytes and back, and the same through numcodecs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codec_building import NAMES, ROOT

from collpress import codecs
from collpress.codecs import arrays
from collpress.errors import CollpressError

FIELD = np.cumsum(np.random.default_rng(0).standard_normal((6, 7, 8)), axis=2)


@pytest.fixture(autouse=True)
def _built_here(plugins: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    built = {name: codecs.Codec(plugins[name]) for name in NAMES}
    monkeypatch.setattr(arrays, "_built", lambda platform, root: built)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (6, 7), (6, 7, 8), (1, 2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shape_and_dtype_come_back_and_values_within_the_bound(shape: tuple[int, ...], dtype: str) -> None:
    values = np.resize(FIELD, shape).astype(dtype)
    back = codecs.decompress(codecs.compress(values, "deltapack", abs_bound=0.01))
    assert (back.shape, back.dtype) == (values.shape, values.dtype)
    assert np.all(np.abs(back - values) <= 0.01)


def test_an_array_in_another_order_comes_back_as_it_looks() -> None:
    turned = np.asfortranarray(FIELD)[::-1, ::2]
    assert np.array_equal(codecs.decompress(codecs.compress(turned, "none")), turned)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (np.array([3.0, 5.0, np.nan, np.inf]), 2.0),  # of what is finite
        (np.full(9, -4.0), 4.0),
        (np.zeros(9), 1.0),
        (np.array([np.nan]), 1.0),
    ],
)
def test_a_relative_bound_is_a_part_of_the_range(values: Any, scale: float) -> None:
    assert codecs.compress(values, rel_bound=1e-3) == codecs.compress(values, abs_bound=1e-3 * scale)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"codec": "deltapak", "abs_bound": 1}, 'did you mean "deltapack"'),
        ({"codec": "deltapack"}, "needs one error bound"),
        ({"codec": "deltapack", "abs_bound": 1, "rel_bound": 1}, "needs one error bound"),
        ({"codec": "deltapack", "abs_bound": 0}, "0 is not an error bound"),
        ({"codec": "deltapack", "rel_bound": float("nan")}, "nan is not an error bound"),
        ({"codec": "none", "abs_bound": 1}, "takes no error bound"),
        ({"codec": "none", "parameters": {"level": 3}}, 'no setting "level"'),
    ],
)
def test_a_mistake_is_told(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(CollpressError, match=told):
        codecs.compress(FIELD, **arguments)


@pytest.mark.parametrize("values", [np.arange(4), np.zeros(3, complex), np.array(["a"])])
def test_a_dtype_that_the_codec_does_not_take_is_told(values: Any) -> None:
    with pytest.raises(CollpressError, match=r"(?s)does not take .*float32, float64") as told:
        codecs.compress(values, "deltapack", rel_bound=1e-3)
    assert values.dtype.name in str(told.value)


def damaged_header(data: bytes, **changes: Any) -> bytes:
    length = int.from_bytes(data[5:9], "little")
    text = json.dumps(json.loads(data[9 : 9 + length]) | changes).encode()
    return data[:5] + len(text).to_bytes(4, "little") + text + data[9 + length :]


@pytest.mark.parametrize(
    "changes",
    [
        {"codec": "gone"},
        {"dtype": "float33"},
        {"dtype": "float32"},
        {"dtype": "int32"},
        {"shape": [6, 7, 9]},
        {"shape": [1 << 40, 1 << 20]},
        {"shape": [1 << 62, 8]},
        {"shape": [-6, 7, -8]},
        {"shape": "678"},
        {"abs_bound": 0.02},
        {"abs_bound": None},
        {"abs_bound": -1},
        {"parameters": {"level": 1}},
        {"parameters": []},
        {"more": 1},
    ],
)
def test_a_header_that_lies_is_refused(changes: dict[str, Any]) -> None:
    data = codecs.compress(FIELD, abs_bound=0.01)
    assert np.abs(codecs.decompress(damaged_header(data)) - FIELD).max() <= 0.01
    with pytest.raises(CollpressError):
        codecs.decompress(damaged_header(data, **changes))


def test_every_truncated_beginning_is_refused() -> None:
    data = codecs.compress(FIELD, abs_bound=0.01)
    for length in range(len(data)):
        with pytest.raises(CollpressError):
            codecs.decompress(data[:length])


BY_NUMCODECS = """
import sys, numpy, numcodecs
from collpress.codecs import Codec, arrays
arrays._built = lambda platform, root: {"deltapack": Codec(sys.argv[1])}
codec = numcodecs.get_codec({"id": "collpress", "abs_bound": 0.01})
assert numcodecs.get_codec(codec.get_config()) == codec
values = numpy.cumsum(numpy.ones((6, 7, 8)), axis=2)
out = numpy.zeros_like(values)
codec.decode(codec.encode(values), out)
print(abs(out - values).max() <= 0.01, (abs(codec.decode(codec.encode(values)) - values) <= 0.01).all())
"""


def test_numcodecs_finds_the_codec_by_the_entry_point(plugins: dict[str, Path], tmp_path: Path) -> None:
    assert find_spec("numcodecs") is not None, "./run test installs numcodecs"
    # numcodecs reads "post0" in the version of zfpy's wheel as a number, and cannot be imported beside it.
    for entry in (p for path in map(Path, sys.path) if path.name == "site-packages" for p in path.iterdir()):
        if not entry.name.startswith(("zfpy", "_zfpy")):
            (tmp_path / entry.name).symlink_to(entry)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    ours = tmp_path / "collpress-0.dist-info"
    ours.mkdir()
    lines = "".join(f"{name} = {place}\n" for name, place in declared["numcodecs.codecs"].items())
    (ours / "entry_points.txt").write_text(f"[numcodecs.codecs]\n{lines}", encoding="utf-8")
    (ours / "METADATA").write_text("Metadata-Version: 2.1\nName: collpress\nVersion: 0\n", encoding="utf-8")
    path = f"{tmp_path}:{ROOT / 'workflow'}"
    command = [sys.executable, "-S", "-c", BY_NUMCODECS, str(plugins["deltapack"])]
    done = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == "True True\n", done.stderr
