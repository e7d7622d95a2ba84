"""The PP reader: big-endian Fortran records of 64 header words and a field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from handmade import MISSING, pp_field, pp_record
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from collpress.data.readers import pp
from collpress.errors import CollpressError

ONES = np.ones((2, 3), dtype=np.float32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a field.pp"


def _message(file: Path, content: bytes, stash: int = 4) -> str:
    file.write_bytes(content)
    with pytest.raises(CollpressError) as caught:
        pp.read(file, stash)
    assert str(file) in str(caught.value)
    return str(caught.value)


def test_fields_of_one_stash_code_become_one_array_of_times_and_levels(
    file: Path, pp_bytes: bytes, grids: np.ndarray
) -> None:
    file.write_bytes(pp_bytes)
    theta, missing = pp.read(file, 4)
    pressure, _ = pp.read(file, 408)
    assert missing == MISSING
    assert theta.dtype == np.float32
    assert theta.dtype.isnative
    assert np.array_equal(theta, grids)
    assert np.array_equal(pressure, 2 * grids)


def test_the_order_in_the_file_does_not_matter(file: Path) -> None:
    file.write_bytes(
        pp_field(4 * ONES, minute=9, level=7)
        + pp_field(3 * ONES, minute=9, level=2)
        + pp_field(2 * ONES, level=7)
        + pp_field(ONES, level=2)
    )
    assert pp.read(file, 4)[0][:, :, 0, 0].tolist() == [[1, 2], [3, 4]]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(width=32)),
    extra=st.integers(0, 3),
)
def test_every_bit_survives_the_change_of_byte_order(file: Path, values: np.ndarray, extra: int) -> None:
    file.write_bytes(pp_field(np.where(np.isnan(values), np.float32(0.5), values), extra=extra))
    read = pp.read(file, 4)[0][0, 0]
    assert read.tobytes() == np.where(np.isnan(values), np.float32(0.5), values).tobytes()


@pytest.mark.parametrize("cut", [1, 3, 100, 264, 265, 268, 270, -1, -4, -5])
def test_a_truncated_file_is_reported_with_the_byte_at_which_its_last_record_begins(file: Path, cut: int) -> None:
    whole = pp_field(ONES) + pp_field(ONES, level=2)
    first, header = len(whole) // 2, 256 + 8
    keep = first + cut if cut > 0 else len(whole) + cut
    begins = first + header if keep >= first + header else first
    message = _message(file, whole[:keep])
    assert "truncated" in message
    assert f"byte {begins}" in message


@pytest.mark.parametrize("size", range(1, 300, 7))
def test_no_cut_of_a_single_field_is_read_as_a_whole_one(file: Path, size: int) -> None:
    assert "byte" in _message(file, pp_field(ONES)[:size])


def test_a_packed_field_is_refused_and_the_packing_named(file: Path) -> None:
    assert "LBPACK = 1, WGDOS" in _message(file, pp_field(ONES, i20=1))


def test_integers_and_logicals_are_refused(file: Path) -> None:
    assert "LBUSER1 = 2" in _message(file, pp_field(ONES, i38=2))


def test_little_endian_files_are_recognised(file: Path) -> None:
    assert "this file is little-endian" in _message(file, (256).to_bytes(4, "little") + bytes(300))


def test_a_file_of_another_kind_is_refused(file: Path) -> None:
    assert "header should be 256 bytes" in _message(file, b"\x89HDF\r\n\x1a\n" + bytes(1000))


def test_markers_that_disagree_are_damage(file: Path) -> None:
    damaged = bytearray(pp_field(ONES))
    damaged[-1] ^= 1
    assert "first marker" in _message(file, bytes(damaged))


@pytest.mark.parametrize("words", [{"i17": 3}, {"i18": 0}, {"i19": 1}, {"i14": 99}, {"i17": -2, "i18": -3}])
def test_a_header_that_contradicts_its_record_is_damage(file: Path, words: dict[str, int]) -> None:
    assert "do not make" in _message(file, pp_field(ONES, **words))


def test_an_absent_stash_code_is_answered_with_those_present(file: Path, pp_bytes: bytes) -> None:
    assert "allowed: 4, 408" in _message(file, pp_bytes, stash=5)


def test_an_empty_file_has_no_field(file: Path) -> None:
    assert "the file is empty" in _message(file, b"")


def test_a_missing_and_a_doubled_field_are_both_refused(file: Path) -> None:
    corner = pp_field(ONES) + pp_field(ONES, level=2) + pp_field(ONES, minute=1)
    assert "2 times x 2 levels" in _message(file, corner)
    assert "1 times x 1 levels" in _message(file, pp_field(ONES) + pp_field(ONES))


def test_fields_of_different_grids_do_not_mix(file: Path) -> None:
    assert "differ in grid" in _message(file, pp_field(ONES) + pp_field(np.ones((3, 3)), level=2))


def test_a_record_that_claims_more_than_the_file_holds_allocates_nothing(file: Path) -> None:
    assert "truncated" in _message(file, pp_record(pp_field(ONES)[4:260]) + b"\x7f\xff\xff\xff" + bytes(8))
