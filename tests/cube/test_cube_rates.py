"""Effective and wire bandwidth, and the break-even rate of a codec: what they divide, and where there is none."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from synthetic_campaign import Campaign, MiB, failing, taking
from unwritten import unwritten

from collpress.analysis import link
from collpress.analysis.payoff import payoffs

RING = {"algorithm": "compressed:ring", "message_bytes": 4 * MiB}
CODEC = {"codec": "ours", "error_bound": "rel 1e-3"}


def sending(wire: int, compress: float, decompress: float, seconds: float = 0.01) -> dict[str, object]:
    """A record's fields: bytes that are sent of 4 MiB, and seconds of the codec and of the call."""
    parts = dict.fromkeys(("send", "reduce", "wait", "other"), 0.0)
    phases = {"iterations": 5, "total": seconds, "compress": compress, "decompress": decompress, **parts}
    return {
        "codec": {"raw_bytes": 4 * MiB, "compressed_bytes": 1 * MiB, "ratio": 4.0, "wire_bytes": wire},
        "phases_s": phases,
    }


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    """6 MiB are sent without the codec, with it 2 MiB in 10 ms; its phases take 2, 4 and 8 ms in three launches."""
    made = Campaign(launches=3)
    made.add("e", **RING, outcome=taking(0.02, **sending(6 * MiB, 0.0, 0.0)))
    times = [(0.5e-3, 1.5e-3), (1e-3, 3e-3), (2e-3, 6e-3)]
    made.add("e", **RING, **CODEC, outcome=lambda n: taking(0.01, **sending(2 * MiB, *times[n]))(n))
    made.add("e", **RING, codec="int8", outcome=taking(0.01, **sending(7 * MiB, 1e-3, 1e-3)))
    made.add("e", **RING, codec="bf16", outcome=failing("crashed", "signal 11"))
    made.add("e", algorithm="library:default", message_bytes=4 * MiB, outcome=taking(0.008))
    return unwritten(made, tmp_path_factory.mktemp("rates"))["e"].to_dataset().squeeze(drop=True)


def at(group: xr.Dataset, variable: str, algorithm: str = "compressed:ring", **codec: str) -> float:
    where = {"codec": "none", "error_bound": "none"} | codec
    return float(group[variable].sel(algorithm=algorithm, **where))


def test_the_effective_bandwidth_counts_uncompressed_bytes_over_the_time(group: xr.Dataset) -> None:
    assert at(group, "effective_bandwidth", **CODEC) == pytest.approx(4 * MiB / 0.01)
    assert at(group, "effective_bandwidth", "library:default") == pytest.approx(4 * MiB / 0.008)
    xr.testing.assert_equal(group["effective_bandwidth"], group["algbw"])


def test_the_wire_bandwidth_counts_what_is_sent(group: xr.Dataset) -> None:
    assert at(group, "wire_bandwidth", **CODEC) == pytest.approx(2 * MiB / 0.01)
    assert at(group, "wire_bandwidth") == pytest.approx(6 * MiB / 0.02)
    assert np.isnan(at(group, "wire_bandwidth", "library:default"))


def test_the_break_even_rate_is_what_is_saved_over_the_time_of_the_codec(group: xr.Dataset) -> None:
    rate = at(group, "break_even_rate", **CODEC)
    assert rate == pytest.approx((6 - 2) * MiB / 4e-3), "the median launch's"
    ratio, compress, decompress = 6 / 2, 6 * MiB / 1e-3, 6 * MiB / 3e-3
    assert rate == pytest.approx((1 - 1 / ratio) / (1 / compress + 1 / decompress)), "B* of the codec's speeds"


def test_it_is_the_rate_that_figures_and_findings_tell(tmp_path: Path) -> None:
    made = Campaign(launches=4)
    made.add("e", **RING, outcome=taking(0.02, **sending(6 * MiB, 0.0, 0.0)))
    made.add("e", **RING, **CODEC, outcome=lambda n: taking(0.01, **sending(2 * MiB, 1e-3 * (n + 1), 1e-3))(n))
    dataset = unwritten(made, tmp_path)["e"].to_dataset()
    [one] = payoffs(dataset)
    assert one.break_even is not None
    told = dataset["break_even_rate"].sel(codec="ours", error_bound="rel 1e-3").item()
    assert told == pytest.approx(one.break_even.value)


@pytest.mark.parametrize(
    ("codec", "rate"), [({}, None), ({"codec": "int8"}, 0.0), ({"codec": "bf16"}, None)], ids=["none", "int8", "bf16"]
)
def test_where_nothing_is_saved_it_is_0_and_where_nothing_is_known_nan(
    group: xr.Dataset, codec: dict[str, str], rate: float | None
) -> None:
    found = at(group, "break_even_rate", **codec)
    assert np.isnan(found) if rate is None else found == rate


def test_without_the_plain_point_there_is_no_break_even_rate(tmp_path: Path) -> None:
    made = Campaign(launches=1)
    made.add("e", **RING, **CODEC)
    found = unwritten(made, tmp_path)["e"]["break_even_rate"]
    assert bool(found.isnull().all())
    assert found.dims == unwritten(made, tmp_path)["e"]["status"].dims


def test_the_examples_of_links_hold() -> None:
    result = doctest.testmod(link)
    assert (result.attempted > 0, result.failed) == (True, 0)


def test_a_result_of_a_point_that_its_link_made_invalid_is_no_evidence(tmp_path: Path) -> None:
    made = Campaign(launches=2)
    refused = {"status": "invalid", "reason": "the throttled link gives half", "by": "supervisor", "check": None}
    made.add("e", outcome=lambda launch: refused if launch else {})
    wrong = {"status": "invalid", "reason": "element 7 is 3, not 4"}
    made.add("e", message_bytes=8, outcome=lambda launch: wrong if launch else {})
    found = unwritten(made, tmp_path)["e"].to_dataset().squeeze(drop=True)["max_abs_error"]
    assert found.sel(message_bytes=[8, 1 * MiB]).isnull().values.tolist() == [False, True]
