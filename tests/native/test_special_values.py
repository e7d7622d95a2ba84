"""NaN, infinities, signed zeros, subnormals, sums that overflow, constant data: what a result must be, and may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, Entry, Outcome, point

RANKS = 2


def pairs(dtype: str) -> np.ndarray:
    """First rank's vector, then the second's: each column is one case."""
    info = np.finfo(dtype)
    nan, inf = np.nan, np.inf
    first = [nan, inf, inf, -inf, -0.0, info.smallest_subnormal, info.max, info.max, 1.0, 1e-3, nan, 0.1]
    second = [1.0, 1.0, -inf, -inf, -0.0, info.smallest_subnormal, info.max, -info.max, info.eps / 4, -1e-3, -inf, 0.2]
    return np.array(first + second, dtype=dtype)


class Special:
    """One launch over all of these points."""

    def __init__(self, core: Core, user: Path, folder: Path) -> None:
        self.right: list[Entry] = []
        for dtype, values in ((name, pairs(name)) for name in ("float32", "float64")):
            path = folder / f"{dtype}.bin"
            values.astype(np.dtype(dtype).newbyteorder("<")).tofile(path)
            shape: dict[str, Any] = {
                "dtype": dtype,
                "data": "file",
                "data_path": path,
                "data_elements": values.size,
                "message_bytes": values.nbytes // RANKS,
            }
            for op in ("sum", "max"):
                self.right.append(point(**shape, op=op))
                self.right.append(core.reference("recursive_doubling", **shape, op=op))
                self.right.append(core.compressed("codec_copies", user / "codec_copies.so", **shape, op=op))
        wrapping = np.array([2**31 - 1, -(2**31), 5, 1, -1, 7], dtype="<i4")
        wrapping.tofile(folder / "int32.bin")
        integers = {"dtype": "int32", "data": "file", "data_path": folder / "int32.bin", "data_elements": 6}
        self.right.append(core.reference("ring", **integers, message_bytes=12))
        self.right.append(point(**integers, message_bytes=12))

        np.full(64, 2.5, dtype="<f4").tofile(folder / "constant.bin")
        np.zeros(64, dtype="<f4").tofile(folder / "zeros.bin")
        bound = {"bound": "rel", "bound_value": "1e-2", "message_bytes": 128, "data": "file", "data_elements": 64}
        deltapack = core.build / "plugins/codecs/deltapack.so"
        self.constant = core.compressed("deltapack", deltapack, data_path=folder / "constant.bin", **bound)
        self.zeros = core.compressed("deltapack", deltapack, data_path=folder / "zeros.bin", **bound)
        beyond = np.array([3.4e38, 1.0, 2.0, 1.0, 1.0, 1.0], dtype="<f4")  # bfloat16 has no value that large
        beyond.tofile(folder / "beyond.bin")
        large: dict[str, Any] = {"data": "file", "data_path": folder / "beyond.bin", "data_elements": 6}
        bf16 = core.build / "plugins/codecs/bf16.so"
        self.beyond = core.compressed("bf16", bf16, message_bytes=12, **large)
        unpromised = user / "codec_infinite_but_copies.so"
        self.overflows = core.compressed("infinite", unpromised, data_path=folder / "float32.bin", data="file",
                                         data_elements=24, message_bytes=48)  # fmt: skip
        self.copied = core.compressed("infinite", unpromised, message_bytes=12, **large)
        unusual = [self.constant, self.zeros, self.beyond, self.overflows, self.copied]
        self.outcome: Outcome = core.launch(folder, RANKS, [*self.right, *unusual])


@pytest.fixture(scope="module")
def special(core: Core, user: Path, tmp_path_factory: pytest.TempPathFactory) -> Special:
    return Special(core, user, tmp_path_factory.mktemp("special"))


def test_a_right_result_passes_whatever_the_values(special: Special) -> None:
    assert special.outcome.code == 0, special.outcome.errors
    records = [special.outcome.record(entry) for entry in special.right]
    assert [r for r in records if r["status"] != "ok"] == []


def test_without_a_finite_bound_only_what_is_right_without_a_codec_passes(special: Special) -> None:
    assert special.outcome.record(special.copied)["status"] == "ok"
    for entry in (special.beyond, special.overflows):  # the latter has sums beyond the range, which nothing checks
        record = special.outcome.record(entry)
        assert record["status"] == "failed"
        assert "states no finite bound for these values" in record["reason"]


def test_a_bound_relative_to_no_range_is_relative_to_the_magnitude_and_for_zeros_to_one(special: Special) -> None:
    constant, zeros = special.outcome.record(special.constant), special.outcome.record(special.zeros)
    assert (constant["status"], zeros["status"]) == ("ok", "ok")
    assert constant["effective"]["abs_bound"] == pytest.approx(0.025)
    assert zeros["effective"]["abs_bound"] == pytest.approx(0.01)


def test_where_there_is_nothing_to_measure_against_numbers_are_missing(special: Special) -> None:
    check = special.outcome.record(special.constant)["check"]
    assert check["value_range"] == 0
    assert check["psnr_db"] is None
