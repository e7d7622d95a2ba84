"""Results that become contributions: what is kept of the rounds, against the same loop in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, Entry, Outcome, plan_text, point

RANKS, COUNT = 2, 5000
DRIFT = (1 + 2.0**-10) * (1 + 2.0**-11)
"""What `codec_drifts` makes of a value in one round of the ring on 2 ranks: of one of two equal halves, then of all."""


class Fed:
    """One launch on 2 ranks, and what was sent."""

    def __init__(self, core: Core, user: Path, folder: Path) -> None:
        rng = np.random.default_rng(8)
        self.field = rng.normal(size=(RANKS, COUNT)).astype("<f4") + 3
        self.field.tofile(folder / "field.bin")
        self.odd = self.field.copy()
        self.odd[0, 3], self.odd[1, 5] = np.nan, 3e38
        self.odd.tofile(folder / "odd.bin")
        file: dict[str, Any] = {"data": "file", "data_path": folder / "field.bin", "data_elements": RANKS * COUNT}
        file |= {"message_bytes": 4 * COUNT}
        self.library = point(**file, feedback=3)
        self.in_place = point(**file, feedback=3, buffers="in-place")
        self.nonblocking = point(**file, feedback=3, call="nonblocking")
        self.bf16 = core.compressed("bf16", core.build / "plugins/codecs/bf16.so", **file, feedback=20)
        drifts = user / "codec_drifts.so"
        self.drifting = core.compressed("codec_drifts", drifts, **file, feedback=200)
        first = user / "codec_first_drifts.so"
        self.moving = core.compressed("codec_first_drifts", first, **file, feedback=100)
        self.lost = core.compressed("codec_drifts", drifts, **file | {"data_path": folder / "odd.bin"}, feedback=200)
        self.hurried = point(**file, feedback=1_000_000, at_most=0.02)
        self.pattern = point(message_bytes=400, dtype="float64", feedback=2)
        self.usual = point(**file)
        self.outcome: Outcome = core.launch(folder, RANKS, [e for e in vars(self).values() if isinstance(e, dict)])
        assert self.outcome.code == 0, self.outcome.errors

    def __call__(self, entry: Entry) -> Any:
        record = self.outcome.record(entry)
        assert (record["status"], record["reason"]) == ("ok", None)
        return record["feedback"]


@pytest.fixture(scope="module")
def fed(core: Core, user: Path, tmp_path_factory: pytest.TempPathFactory) -> Fed:
    return Fed(core, user, tmp_path_factory.mktemp("feedback"))


def test_errors_are_against_the_exact_mean_of_what_the_ranks_sent(fed: Fed) -> None:
    exact = fed.field.astype(float).mean(axis=0)
    single = ((fed.field[0] + fed.field[1]) / np.float32(2)).astype(float)  # and the mean of two equal values is exact
    error = single - exact
    for entry in (fed.library, fed.in_place, fed.nonblocking):
        told = fed(entry)
        assert (told["asked"], told["done"], told["compared"], told["round"]) == (3, 3, COUNT, [1, 2, 3])
        assert told["value_range"] == np.ptp(exact)
        assert told["max_abs_error"] == [np.abs(error).max()] * 3
        assert told["nrmse"] == pytest.approx([np.sqrt((error**2).mean()) / np.ptp(exact)] * 3, rel=1e-9)
        assert told["bias"] == pytest.approx([error.mean()] * 3, rel=1e-9)
        assert told["lost"] == [0, 0, 0]
    assert max(fed(fed.library)["max_abs_error"]) > 0


def test_a_codec_that_maps_its_output_to_itself_has_an_error_that_stays(fed: Fed) -> None:
    told = fed(fed.bf16)
    assert told["max_abs_error"][0] > 1e-3
    assert len(set(told["max_abs_error"])) == 1


def test_a_codec_that_moves_its_output_further_has_one_that_grows(fed: Fed) -> None:
    told = fed(fed.drifting)
    exact = fed.field.astype(float).mean(axis=0)
    for number, largest, bias in zip(told["round"], told["max_abs_error"], told["bias"], strict=True):
        assert largest == pytest.approx(np.abs(exact).max() * (DRIFT**number - 1), rel=0.2 if number < 9 else 0.02)
        assert bias == pytest.approx(exact.mean() * (DRIFT**number - 1), rel=0.02)
    assert told["bias"][-1] > 0.3 * exact.mean()


def test_values_move_by_one_element_in_each_round(fed: Fed) -> None:
    """The first value of either half of the message becomes larger, and is another one each time."""
    told = fed(fed.moving)
    exact = fed.field.astype(float).mean(axis=0)
    once, half = DRIFT - 1, COUNT // 2
    for number, largest, bias in zip(told["round"], told["max_abs_error"], told["bias"], strict=True):
        hit = np.concatenate([exact[:number], exact[half : half + number]])
        assert largest == pytest.approx(once * np.abs(hit).max(), rel=0.4)
        assert bias * COUNT == pytest.approx(once * hit.sum(), rel=0.4 if number < 9 else 0.05)
    assert told["round"][-1] == 100


def test_all_rounds_are_kept_up_to_64_and_8_for_each_doubling_behind(fed: Fed) -> None:
    rounds = fed(fed.drifting)["round"]
    assert rounds[:64] == list(range(1, 65))
    assert rounds[-1] == 200
    behind = [n for n in rounds if n > 64]
    assert [n for n in behind if n <= 128] == [70, 77, 83, 91, 99, 108, 118, 128]
    assert len(behind) == 8 + 5 + 1


def test_what_is_no_longer_finite_is_counted_and_has_no_error(fed: Fed) -> None:
    told = fed(fed.lost)
    assert told["compared"] == COUNT - 1  # of a NaN nothing is expected
    assert (told["lost"][0], told["max_abs_error"][0] is None) == (0, False)
    assert told["lost"][-1] == RANKS  # 1.5e38 · DRIFT^200 is above 2e38, and two of it beyond float32
    assert (told["max_abs_error"][-1], told["nrmse"][-1], told["bias"][-1]) == (None, None, None)


def test_when_the_time_is_up_the_rounds_end_and_it_is_said(fed: Fed) -> None:
    told = fed(fed.hurried)
    assert told["asked"] == 1_000_000
    assert 1 <= told["done"] < told["asked"]
    assert told["round"][-1] == told["done"]


def test_whole_numbers_come_back_without_an_error_and_nobody_asking_gets_none(fed: Fed) -> None:
    told = fed(fed.pattern)
    assert (told["max_abs_error"], told["bias"]) == ([0, 0], [0, 0])
    assert fed.outcome.record(fed.usual)["feedback"] is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"feedback": 0}, "must be from 1 to 1000000"),
        ({"feedback": 1_000_001}, "must be from 1 to 1000000"),
        ({"feedback": 1, "op": "max"}, "only the sums of an allreduce of float32 or float64 are fed back"),
        ({"feedback": 1, "dtype": "int32"}, "only the sums of an allreduce of float32 or float64 are fed back"),
        ({"feedback": 1, "collective": "reduce"}, "only the sums of an allreduce of float32 or float64 are fed back"),
    ],
)
def test_a_plan_that_feeds_back_what_cannot_be_is_refused(
    core: Core, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    plan = tmp_path / "plan.tsv"
    plan.write_text(plan_text([point(**changed)]), encoding="utf-8")
    journal = ("--journal", tmp_path / "journal.jsonl", "--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    done = core.call("--plan", plan, *journal)
    assert done.returncode == 2
    assert f'plan.tsv:2: key "feedback": {message}' in done.stderr
