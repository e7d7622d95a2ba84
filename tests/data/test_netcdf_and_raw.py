"""Raw values and NetCDF variables become float32 arrays, or a message that says what the file has instead."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest

from collpress.data.formats import RawValues
from collpress.data.readers import netcdf, raw
from collpress.errors import CollpressError

SHAPE = (2, 3, 4)
VALUES = np.random.Generator(np.random.Philox(8)).normal(size=SHAPE).astype(np.float32)

_ENDIAN = {"<": "little", ">": "big"}


def _netcdf(path: Path, dtype: str = "f4", **attributes: object) -> Path:
    fill = attributes.pop("_FillValue", None)
    with netCDF4.Dataset(path, "w") as content:
        for name, size in zip("zyx", SHAPE, strict=True):
            content.createDimension(name, size)
        variable = content.createVariable(
            "wind", dtype, tuple("zyx"), fill_value=fill, endian=_ENDIAN.get(dtype[0], "native")
        )  # type: ignore[arg-type]
        variable[...] = VALUES.astype(dtype)
        variable.setncatts(attributes)
        content.createVariable("wind_gust", "f4", ())
    return path


@pytest.mark.parametrize("order", ["little", "big"])
def test_raw_values_are_read_in_the_files_byte_order(tmp_path: Path, order: str) -> None:
    path = tmp_path / "field.f32"
    path.write_bytes(VALUES.astype("<f4" if order == "little" else ">f4").tobytes())
    found = raw.read(path, SHAPE, RawValues(byte_order=order)).values  # type: ignore[arg-type]
    assert found.shape == SHAPE
    assert np.array_equal(found, VALUES)


@pytest.mark.parametrize("length", [0, 92, 95, 97, 100])
def test_a_raw_file_of_another_length_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "field.f32"
    path.write_bytes(bytes(length))
    with pytest.raises(CollpressError, match=rf"has {length} bytes, 2 x 3 x 4 values of 4 bytes are 96"):
        raw.read(path, SHAPE, RawValues(byte_order="little"))


@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_a_variable_is_read_as_it_is_stored(tmp_path: Path, dtype: str) -> None:
    read = netcdf.read(_netcdf(tmp_path / "a.nc", dtype=dtype), "wind")
    assert not isinstance(read.values, np.ma.MaskedArray)
    assert np.array_equal(read.values, VALUES)
    assert (read.dtype, read.missing) == ("float32", None)


@pytest.mark.parametrize("attribute", ["_FillValue", "missing_value"])
def test_the_value_for_no_data_is_the_one_that_the_variable_declares(tmp_path: Path, attribute: str) -> None:
    read = netcdf.read(_netcdf(tmp_path / "a.nc", **{attribute: np.float32(VALUES[0, 0, 0])}), "wind")
    assert read.missing == VALUES[0, 0, 0]
    assert read.values[0, 0, 0] == read.missing, "kept as it is"


def test_an_unknown_variable_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match=r'no variable "wnid"(?s:.*)wind, wind_gust(?s:.*)did you mean "wind"'):
        netcdf.read(_netcdf(tmp_path / "a.nc"), "wnid")


@pytest.mark.parametrize(("dtype", "name"), [("f8", "float64"), ("i2", "int16"), ("i4", "int32")])
def test_another_type_is_told(tmp_path: Path, dtype: str, name: str) -> None:
    assert netcdf.read(_netcdf(tmp_path / "a.nc", dtype=dtype), "wind").dtype == name


@pytest.mark.parametrize("attribute", ["scale_factor", "add_offset"])
def test_packed_values_are_refused(tmp_path: Path, attribute: str) -> None:
    with pytest.raises(CollpressError, match=attribute):
        netcdf.read(_netcdf(tmp_path / "a.nc", **{attribute: 2.0}), "wind")


def test_two_different_values_for_no_data_are_refused(tmp_path: Path) -> None:
    one, other = np.float32(1.0e20), np.float32(-999.0)
    with pytest.raises(CollpressError, match=r"1\.00000002004\d+e\+20 and -999\.0"):
        netcdf.read(_netcdf(tmp_path / "a.nc", _FillValue=one, missing_value=other), "wind")
    assert netcdf.read(_netcdf(tmp_path / "b.nc", _FillValue=one, missing_value=one), "wind").missing == one


def test_text_is_no_field(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as content:
        content.createVariable("name", str, ())
    with pytest.raises(CollpressError, match="allowed: float32"):
        netcdf.read(tmp_path / "a.nc", "name")


def test_what_is_no_netcdf_or_cut_short_is_refused(tmp_path: Path) -> None:
    path = _netcdf(tmp_path / "a.nc")
    whole = path.read_bytes()
    for content in (b"", b"not NetCDF at all", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(CollpressError, match=r"a\.nc: cannot read it as NetCDF"):
            netcdf.read(path, "wind")
    with pytest.raises(CollpressError, match="cannot read it as NetCDF"):
        netcdf.read(tmp_path / "nowhere.nc", "wind")
