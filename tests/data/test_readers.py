"""Each format gives its values bit by bit, and a damaged or strange file one clear message."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from safetensors.numpy import save_file

from collpress.data.formats import Hdf5Dataset, InFormat, NpyArray, RawValues, Tensors
from collpress.data.opening import kept
from collpress.data.readers import hdf5, npy, npz, pt, raw, safetensors
from collpress.data.readers.stored import of_array
from collpress.errors import CollpressError

VALUES = np.random.Generator(np.random.Philox(5)).normal(size=(3, 5)).astype(np.float32)
BITS = (VALUES.view(np.uint32) >> 16).astype(np.uint16)
BY_TORCH = Path(__file__).parent / "files" / "torch-2.13.pt"
"""What torch 2.13 saved: a state dict, views, a parameter, several dtypes, a step and a name."""


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("fortran", [False, True])
def test_npy_in_any_order(tmp_path: Path, order: str, fortran: bool) -> None:
    path = tmp_path / "a.npy"
    values = np.asfortranarray(VALUES) if fortran else VALUES
    np.save(path, values.astype(order + "f4", order="K"))
    read = npy.read(path, NpyArray())
    assert read.dtype == "float32"
    assert np.array_equal(read.values, VALUES)


@pytest.mark.parametrize("dtype", ["<u2", ">u2", "<i2", "V2"])
def test_npy_holds_bfloat16_where_one_says_so(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "a.npy"
    np.save(path, BITS.view(dtype) if dtype == "V2" else BITS.astype(dtype))
    values, kind = kept(npy.read(path, NpyArray(bits="bfloat16")), InFormat(npy=NpyArray(bits="bfloat16")), "")
    assert kind == "bfloat16"
    assert np.array_equal(values, BITS)
    np.save(path, VALUES)
    with pytest.raises(CollpressError, match="the values are float32"):
        npy.read(path, NpyArray(bits="bfloat16"))


def test_npz_by_key(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, wind=VALUES, other=VALUES[0])
    assert np.array_equal(npz.read(path, NpyArray(key="wind")).values, VALUES)
    with pytest.raises(CollpressError, match=r'no array "wnid"(?s:.*)wind, other(?s:.*)did you mean "wind"'):
        npz.read(path, NpyArray(key="wnid"))
    with pytest.raises(CollpressError, match=r"no \.npy file, but a \.npz file"):
        npy.read(path, NpyArray())


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(CollpressError, match=r"cannot read it as \.npy"):
        npy.read(path, NpyArray())
    np.savez(tmp_path / "b.npz", a=np.array([None], dtype=object), allow_pickle=True)
    with pytest.raises(CollpressError, match=r"cannot read it as \.npz"):
        npz.read(tmp_path / "b.npz", NpyArray(key="a"))


def test_hdf5_by_path(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("run/step 1/wind", data=VALUES.astype(">f4"), chunks=(2, 2), compression="gzip")
        file["run/half"] = VALUES.astype(np.float16)
        file["scalar"] = 1.0
    read = hdf5.read(path, Hdf5Dataset(dataset="run/step 1/wind"))
    assert np.array_equal(read.values, VALUES)
    assert hdf5.read(path, Hdf5Dataset(dataset="run/half")).dtype == "float16"
    with pytest.raises(CollpressError, match=r'no dataset "run/step 1"(?s:.*)run/half, run/step 1/wind, scalar'):
        hdf5.read(path, Hdf5Dataset(dataset="run/step 1"))
    with pytest.raises(CollpressError, match="scalar, or empty"):
        hdf5.read(path, Hdf5Dataset(dataset="scalar"))


def _safetensors(path: Path, header: dict[str, Any], data: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_safetensors_by_name_and_pattern(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_file({"layer.1.w": VALUES, "layer.0.w": 2 * VALUES, "layer.0.b": VALUES[0], "half": VALUES.astype("f2")}, path)
    assert np.array_equal(safetensors.read(path, Tensors(tensors=("layer.1.w",))).values, VALUES)
    several = safetensors.read(path, Tensors(tensors=("layer.*.w",)))
    assert np.array_equal(several.values, np.concatenate([2 * VALUES.ravel(), VALUES.ravel()]))
    with pytest.raises(CollpressError, match=r'no tensor is called "layer.1.v"(?s:.*)did you mean "layer.1.w"'):
        safetensors.read(path, Tensors(tensors=("layer.*", "layer.1.v")))
    with pytest.raises(CollpressError, match=r"several dtypes: half is float16, layer.1.w is float32"):
        safetensors.read(path, Tensors(tensors=("*",)))


def test_safetensors_in_bfloat16(tmp_path: Path) -> None:
    header = {
        "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "b": {"dtype": "BF16", "shape": [3, 5], "data_offsets": [4, 34]},
        "c": {"dtype": "F8_E5M2", "shape": [2], "data_offsets": [34, 36]},
    }
    path = _safetensors(tmp_path / "a.safetensors", header, bytes(4) + BITS.astype("<u2").tobytes() + bytes(2))
    read = safetensors.read(path, Tensors(tensors=("b",)))
    assert (read.dtype, read.values.shape) == ("bfloat16", (3, 5))
    assert np.array_equal(read.values, BITS)
    with pytest.raises(CollpressError, match="the values are F8_E5M2"):
        safetensors.read(path, Tensors(tensors=("c",)))


def test_what_torch_saved_is_read_without_torch() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6) / 8 - 1
    tenths = np.arange(12, dtype=np.float32) * np.float32(0.1)
    bits = tenths.view(np.uint32)
    expected: dict[str, tuple[str, np.ndarray]] = {
        "model.w": ("float32", base),
        "layers.0": ("float32", base.T),
        "layers.1": ("float32", np.arange(5, 20, 3, dtype=np.float32)),
        "bf": ("bfloat16", ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).reshape(3, 4)),
        "half": ("float16", np.array([1.5, -2.0, 6e-8], dtype=np.float16)),
        "double": ("float64", np.array([0.1, 1e300])),
        "ids": ("int64", np.arange(5)),
        "param": ("float32", np.array([3, 4], dtype=np.float32)),
    }
    for name, (dtype, values) in expected.items():
        read = pt.read(BY_TORCH, Tensors(tensors=(name,)))
        assert read.dtype == dtype
        assert np.array_equal(read.values, values), name
    with pytest.raises(CollpressError, match=r"the tensor expanded repeats its storage(?s:.*)contiguous"):
        pt.read(BY_TORCH, Tensors(tensors=("expanded",)))
    with pytest.raises(CollpressError, match=r'no tensor is called "step"'):
        pt.read(BY_TORCH, Tensors(tensors=("step",)))


class _Call:
    """Pickled as a call of `function(*arguments)`."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.called = function, arguments

    def __reduce__(self) -> Any:
        return self.called


def _pt(path: Path, pickled: bytes, storage: bytes = bytes(16), compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/data/0", storage)
    return path


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(print, ("hello",)), (exec, ("a = 1",)), (io.open, ("/tmp/x", "w")), (getattr, (OrderedDict, "fromkeys"))],
)
def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path, function: Any, arguments: Any) -> None:
    path = _pt(tmp_path / "a.pt", pickle.dumps({"w": _Call(function, *arguments)}, protocol=2))
    with pytest.raises(CollpressError, match=r"refused: the file asks for (__builtin__|builtins|io|_io)\.\w+"):
        pt.read(path, Tensors(tensors=("*",)))


def _tensor(offset: int = 0, shape: tuple[int, ...] = (4,), strides: tuple[int, ...] = (1,), count: int = 4) -> bytes:
    """The pickle of a tensor as torch writes it, from its opcodes."""
    kind = b"ctorch\nFloatStorage\n"
    numbers = b"".join(b"J" + struct.pack("<i", n) for n in (offset,))
    sizes, steps = (b"(" + b"".join(b"J" + struct.pack("<i", n) for n in t) + b"t" for t in (shape, strides))
    storage = b"(U\x07storage" + kind + b"U\x010U\x03cpuJ" + struct.pack("<i", count) + b"tQ"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + numbers + sizes + steps + b"\x89N" + b"tR."


def test_a_tensor_stays_inside_its_storage(tmp_path: Path) -> None:
    values = np.arange(4, dtype="<f4")
    whole = pt.read(_pt(tmp_path / "a.pt", _tensor(), values.tobytes()), Tensors(tensors=("tensor",)))
    assert np.array_equal(whole.values, values)
    for change in (
        {"offset": 1},
        {"offset": -1},
        {"strides": (2,)},
        {"strides": (-1,)},
        {"shape": (5,)},
        {"count": 5},
        {"count": 3},
        {"shape": (2, 2)},
        {"shape": (1 << 20, 3), "strides": (0, 1)},
        {"shape": (3, 2), "strides": (1, 1), "offset": 0},
    ):
        path = _pt(tmp_path / "b.pt", _tensor(**change), values.tobytes())  # type: ignore[arg-type]
        if change == {"shape": (3, 2), "strides": (1, 1), "offset": 0}:
            assert pt.read(path, Tensors(tensors=("tensor",))).values.tolist() == [[0, 1], [1, 2], [2, 3]]
            continue
        with pytest.raises(CollpressError, match=r"cannot read it|repeats its storage"):
            pt.read(path, Tensors(tensors=("tensor",)))
    with pytest.raises(CollpressError, match="cannot read it"):
        pt.read(_pt(tmp_path / "c.pt", _tensor(), values.tobytes(), zipfile.ZIP_DEFLATED), Tensors(tensors=("tensor",)))


@pytest.mark.parametrize("reader", ["npy", "npz", "hdf5", "safetensors", "pt"])
def test_what_is_damaged_or_of_another_format_is_told(tmp_path: Path, reader: str) -> None:
    good = {
        "npy": lambda p: np.save(p, VALUES),
        "npz": lambda p: np.savez(p, a=VALUES),
        "hdf5": lambda p: h5py.File(p, "w").create_dataset("a", data=VALUES).file.close(),
        "safetensors": lambda p: save_file({"a": VALUES}, p),
        "pt": lambda p: p.write_bytes(BY_TORCH.read_bytes()),
    }
    suffix = {"hdf5": ".h5"}.get(reader, f".{reader}")
    path = tmp_path / f"a{suffix}"
    good[reader](path)
    whole = path.read_bytes()
    read: dict[str, Any] = {
        "npy": lambda: npy.read(path, NpyArray()),
        "npz": lambda: npz.read(path, NpyArray(key="a")),
        "hdf5": lambda: hdf5.read(path, Hdf5Dataset(dataset="a")),
        "safetensors": lambda: safetensors.read(path, Tensors(tensors=("a",))),
        "pt": lambda: pt.read(path, Tensors(tensors=("bf",))),
    }
    read[reader]()
    for content in (b"", b"<html>please log in</html>", whole[: len(whole) // 2], whole[:-1]):
        if reader == "hdf5" and content == whole[:-1]:
            continue  # padding
        path.write_bytes(content)
        with pytest.raises(CollpressError, match="cannot read it as"):
            read[reader]()


def test_raw_values_of_every_dtype(tmp_path: Path) -> None:
    for dtype, values in (("float64", VALUES.astype("f8")), ("float16", VALUES.astype("f2")), ("bfloat16", BITS)):
        for order in ("little", "big"):
            path = tmp_path / "a.raw"
            values.astype(values.dtype.newbyteorder("<" if order == "little" else ">")).tofile(path)
            read = raw.read(path, (3, 5), RawValues(byte_order=order, dtype=dtype))  # type: ignore[arg-type]
            assert read.dtype == dtype
            assert np.array_equal(read.values, values)
    with pytest.raises(CollpressError, match="3 x 5 values of 2 bytes are 30"):
        raw.read(path, (3, 5), RawValues(byte_order="big", dtype="float16")) if path.write_bytes(bytes(29)) else None


def test_float16_is_widened_exactly_and_float64_only_rounded_when_told() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values, dtype = kept(of_array(every), InFormat(npy=NpyArray()), "")
    assert dtype == "float32"
    finite = np.isfinite(every)
    assert np.array_equal(values[finite], every[finite].astype(np.float64))
    wide = np.array([0.1, np.inf, np.nan])
    with pytest.raises(CollpressError, match=r"the values are float64(?s:.*)--convert float32"):
        kept(of_array(wide), InFormat(npy=NpyArray()), "")
    rounded, _ = kept(of_array(wide), InFormat(npy=NpyArray(convert="float32")), "")
    assert rounded.tobytes() == wide.astype("<f4").tobytes()
    with pytest.raises(CollpressError, match="1 finite values are beyond float32"):
        kept(of_array(np.array([1e39])), InFormat(npy=NpyArray(convert="float32")), "")
    for integers in (np.arange(3), np.array([True])):
        with pytest.raises(CollpressError, match=r"the values are (int64|bool)"):
            kept(of_array(integers), InFormat(npy=NpyArray(convert="float32")), "")


def _npy(header: str) -> bytes:
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        _npy("((((" * 50),
        _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}"),
        _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)"),
    ],
    ids=["open brackets", "beyond every integer", "cut"],
)
def test_a_hostile_header_of_npy_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(CollpressError, match=r"cannot read it as \.npy"):
        npy.read(tmp_path / "a.npy", NpyArray())


def test_a_member_of_npz_that_is_no_array_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", b"junk")
    with pytest.raises(CollpressError, match=r"cannot read it as \.npz"):
        npz.read(tmp_path / "a.npz", NpyArray(key="x"))


def test_a_small_hdf5_file_that_unfolds_to_terabytes_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", shape=(1 << 40,), dtype="f4", chunks=(1 << 20,))
    with pytest.raises(CollpressError, match="memory"):
        hdf5.read(tmp_path / "a.h5", Hdf5Dataset(dataset="x"))
