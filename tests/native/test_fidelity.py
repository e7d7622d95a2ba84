"""Fidelity in the core: metrics see rank 0's message and result, and none of them costs a point anything but itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, Entry, Outcome, plan_text, point

RANKS, COUNT = 3, 10_000
SUBJECTS = ("message", "result")
BUILT_IN = (
    "psnr", "max_error", "nrmse", "mae", "cosine", "bias", "error_quantiles", "error_histogram",
    "max_relative_error", "ssim", "spectral_error", "error_autocorrelation", "wasserstein",
)  # fmt: skip


class Measured:
    """One launch on 3 ranks, over a smooth field with some values that are not finite, and what was sent."""

    def __init__(self, core: Core, user: Path, folder: Path) -> None:
        rng = np.random.default_rng(5)
        self.field = np.cumsum(rng.normal(size=(RANKS, COUNT)), axis=1).astype("<f4")
        self.field.tofile(folder / "field é.bin")
        self.odd = self.field.copy()
        self.odd[0, 7], self.odd[1, 9], self.odd[2, 11] = np.nan, np.inf, 3e38
        self.odd[0, 11] = 2e38  # with rank 2's: beyond float32
        self.odd.tofile(folder / "odd.bin")
        self.double = self.field.astype("<f8")
        self.double.tofile(folder / "double.bin")
        np.ones((RANKS, 1), dtype="<f4").tofile(folder / "one.bin")
        self.seen = user / "metric_in_c.so"
        built_in = [core.build / "plugins/metrics" / f"{name}.so" for name in BUILT_IN]
        file: dict[str, Any] = {"data": "file", "data_path": folder / "field é.bin", "data_elements": RANKS * COUNT}
        file |= {"message_bytes": 4 * COUNT, "metrics": self.paths(self.seen, *built_in)}
        relative = {"bound": "rel", "bound_value": "1e-3"}
        deltapack, int8 = (core.build / f"plugins/codecs/{name}.so" for name in ("deltapack", "int8"))
        self.bounded = core.compressed("deltapack", deltapack, **file, **relative, row=100, plane=2500)
        self.largest = core.compressed("deltapack", deltapack, **file, **relative, op="max")
        self.int8 = core.compressed("int8", int8, **file)
        self.lossless = core.compressed("codec_copies", user / "codec_copies.so", **file)
        self.library = point(algorithm="library:default", **file)
        self.unasked = point(algorithm="library:default", **file | {"metrics": None})
        self.lies = core.compressed("codec_lies", user / "codec_lies.so", **file)
        unbounded = user / "codec_infinite_but_copies.so"
        self.unbounded = core.compressed("codec_infinite_but_copies", unbounded, **file)
        self.odd_values = core.compressed(
            "codec_copies", user / "codec_copies.so", **file | {"data_path": folder / "odd.bin", "row": 100}
        )
        double = {"data_path": folder / "double.bin", "dtype": "float64", "message_bytes": 8 * COUNT}
        self.float64 = core.reference("ring", **file | double)
        single = {"data_path": folder / "one.bin", "data_elements": RANKS, "message_bytes": 4}
        self.declined = core.reference("ring", **file | single | {"metrics": self.seen})
        faulty = [user / f"metric_throws{when}.so" for when in ("", "_at_birth", "_at_end")]
        faulty += [folder / "absent.so", deltapack]
        self.faulty = core.reference("ring", **file | {"metrics": self.paths(*faulty, built_in[3])})
        self.wrong = core.reference("wrong_element", plugin=user / "wrong_element.so", **file)
        entries = [e for e in vars(self).values() if isinstance(e, dict)]
        self.outcome: Outcome = core.launch(folder, RANKS, entries)
        assert self.outcome.code == 0, self.outcome.errors

    @staticmethod
    def paths(*files: Path) -> str:
        return "\n".join(map(str, files))

    def fidelity(self, entry: Entry) -> Any:
        return self.outcome.record(entry)["fidelity"]


@pytest.fixture(scope="module")
def measured(core: Core, user: Path, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(core, user, tmp_path_factory.mktemp("fidelity"))


def test_a_message_is_measured_against_itself_and_a_result_against_the_oracle(measured: Measured) -> None:
    fidelity = measured.fidelity(measured.bounded)
    record = measured.outcome.record(measured.bounded)
    bound = record["effective"]["abs_bound"]
    message, result = fidelity["message"], fidelity["result"]
    assert message["bound"] == bound
    assert result["bound"] == pytest.approx(record["check"]["bound"] + record["check"]["rounding_bound"])
    own, exact = measured.field[0].astype(float), measured.field.astype(float).sum(axis=0)
    for subject, reference in ((message, own), (result, exact)):
        told = subject["metrics"]["metric_in_c"]
        assert (told["count"], told["pairs"], subject["left_out"]) == (COUNT, COUNT, 0)
        assert (told["minimum"], told["maximum"]) == (reference.min(), reference.max())
        assert told["bound"] == subject["bound"]
        assert subject["bound_ok"] is True
        assert (told["row"], told["plane"]) == (100, 2500)
        assert 0 < subject["metrics"]["max_error"]["absolute"] <= subject["bound"]
        histogram = subject["metrics"]["error_histogram"]
        assert (sum(histogram.values()), histogram["below"], histogram["above"]) == (COUNT, 0, 0)
        assert set(subject["metrics"]) == {"metric_in_c", *BUILT_IN}
        assert (subject["metrics"]["ssim"]["axes"], subject["metrics"]["ssim"]["windows"]) == (2, 4 * 5 * 24)
    # The check looks at all ranks; in a ring they all end with the same result.
    assert result["metrics"]["max_error"]["absolute"] == record["check"]["max_abs_error"]
    assert result["metrics"]["psnr"]["psnr"] == pytest.approx(record["check"]["psnr_db"])
    assert result["metrics"]["bias"]["bias"] == pytest.approx(record["check"]["mean_error"])
    assert message["metrics"]["psnr"]["psnr"] > 60


def test_a_maximum_is_measured_against_the_exact_maximum(measured: Measured) -> None:
    told = measured.fidelity(measured.largest)["result"]["metrics"]["metric_in_c"]
    exact = measured.field.max(axis=0)
    assert (told["minimum"], told["maximum"]) == (exact.min(), exact.max())


def test_a_codec_without_a_bound_is_held_to_what_it_states_of_the_message(measured: Measured) -> None:
    message = measured.fidelity(measured.int8)["message"]
    assert 0 < message["metrics"]["max_error"]["absolute"] <= message["bound"]
    assert message["metrics"]["error_histogram"]["below"] == 0


def test_a_lossless_message_has_a_bound_of_zero_and_no_psnr(measured: Measured) -> None:
    message = measured.fidelity(measured.lossless)["message"]
    assert message["bound"] == 0
    assert message["metrics"]["psnr"] == {"psnr": None}
    assert message["problems"]["psnr"] == "every value is exact: the ratio is infinite"
    assert message["problems"]["error_histogram"] == "no bound above 0 is known"
    assert message["metrics"]["max_error"] == {"absolute": 0, "relative": 0}


def test_without_a_codec_there_is_a_result_only_and_rounding_is_its_bound(measured: Measured) -> None:
    fidelity = measured.fidelity(measured.library)
    assert fidelity["message"] is None
    rounding = measured.outcome.record(measured.library)["check"]["rounding_bound"]
    assert fidelity["result"]["bound"] == rounding > 0
    assert 0 < fidelity["result"]["metrics"]["max_error"]["absolute"] < rounding


def test_values_that_nothing_can_be_expected_of_are_left_out(measured: Measured) -> None:
    fidelity = measured.fidelity(measured.odd_values)
    assert fidelity["message"]["left_out"] == 1  # NaN
    assert fidelity["message"]["metrics"]["metric_in_c"]["maximum"] == np.float32(2e38)
    assert fidelity["result"]["left_out"] == 3  # NaN, an infinity, and a sum that may overflow
    for subject in SUBJECTS:  # what is left no longer lies in rows
        assert fidelity[subject]["metrics"]["metric_in_c"]["row"] == 0
    assert fidelity["result"]["metrics"]["metric_in_c"]["pairs"] == COUNT - 3
    assert fidelity["result"]["metrics"]["metric_in_c"]["maximum"] < 1e6


def test_float64_is_measured_against_the_compensated_sum(measured: Measured) -> None:
    told = measured.fidelity(measured.float64)["result"]["metrics"]
    exact = measured.double.astype(np.longdouble).sum(axis=0).astype(float)
    assert (told["metric_in_c"]["minimum"], told["metric_in_c"]["maximum"]) == (exact.min(), exact.max())
    assert told["max_error"]["absolute"] < 1e-12


def test_a_value_that_is_not_a_number_is_null_and_named(measured: Measured) -> None:
    result = measured.fidelity(measured.library)["result"]
    assert result["metrics"]["metric_in_c"]["never"] is None
    assert result["problems"]["metric_in_c"] == "never: not a number"


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("metric_throws", {"one": None, "two": None}, "it threw an exception: the second chunk is too much"),
        ("metric_throws_at_birth", {"one": None}, "it threw something that is no std::exception"),
        ("metric_throws_at_end", {"one": None, "two": None}, "it threw an exception: two is too much"),
        ("absent", {}, "absent.so cannot be loaded"),
        ("deltapack", {}, "it is no metric, but of kind codec"),
    ],
)
def test_a_faulty_metric_loses_its_own_values_only(
    measured: Measured, name: str, values: dict[str, Any], problem: str
) -> None:
    record = measured.outcome.record(measured.faulty)
    assert record["status"] == "ok"
    result = record["fidelity"]["result"]
    assert result["metrics"][name] == values
    assert problem in result["problems"][name]
    assert result["metrics"]["mae"]["mae"] > 0
    assert "mae" not in result["problems"]


def test_a_metric_that_cannot_be_set_up_says_so(measured: Measured) -> None:
    result = measured.fidelity(measured.declined)["result"]
    assert result["problems"] == {"metric_in_c": "it cannot be set up for these values"}
    assert set(result["metrics"]["metric_in_c"].values()) == {None}


def test_a_wrong_result_keeps_its_fidelity_and_nobody_asking_gets_none(measured: Measured) -> None:
    wrong = measured.outcome.record(measured.wrong)
    assert wrong["status"] == "invalid"
    assert wrong["fidelity"]["result"]["metrics"]["psnr"]["psnr"] is not None
    assert measured.fidelity(measured.unasked) is None


def test_a_bound_that_does_not_hold_is_told_of_message_and_result(measured: Measured) -> None:
    lies = measured.outcome.record(measured.lies)
    assert lies["status"] == "invalid"
    told = [(lies["fidelity"][subject]["bound"] is None, lies["fidelity"][subject]["bound_ok"]) for subject in SUBJECTS]
    assert told == [(False, False), (False, False)]
    unbounded = measured.fidelity(measured.unbounded)["message"]
    assert (unbounded["bound"], unbounded["bound_ok"]) == (None, None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": "a.so"}, "only data=file has a fidelity"),
        (
            {"metrics": "a.so", "data": "file", "data_path": "x", "data_elements": 64, "dtype": "int32"},
            "only float32 and float64 values have a fidelity",
        ),
        ({"metrics": "a.so\nb/a.so", "data": "file", "data_path": "x", "data_elements": 64}, 'two are called "a"'),
        ({"metrics": "a.so\n", "data": "file", "data_path": "x", "data_elements": 64}, "an empty path"),
    ],
)
def test_a_plan_that_asks_for_an_impossible_fidelity_is_refused(
    core: Core, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    plan = tmp_path / "plan.tsv"
    plan.write_text(plan_text([point(**changed)]), encoding="utf-8")
    journal = ("--journal", tmp_path / "journal.jsonl", "--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    done = core.call("--plan", plan, *journal)
    assert done.returncode == 2
    assert f'plan.tsv:2: key "metrics": {message}' in done.stderr


def test_metrics_describe_their_values(core: Core, user: Path) -> None:
    done = core.call("--describe", user / "metric_throws.so")
    assert done.stdout.strip() == (
        '[{"name": "metric_throws", "kind": "metric", "values": ["one", "two"], "units": ["1", "data"], '
        '"summary": "throws an exception"}]'
    )


def test_names_that_cannot_become_variables_are_refused(core: Core, user: Path, tmp_path: Path) -> None:
    misnamed = core.call("--describe", user / "metric_misnamed.so")
    assert misnamed.returncode == 2
    assert 'metric_misnamed.so: "Largest error" cannot name a value; a name is lower-case letters' in misnamed.stderr
    odd = shutil.copy(user / "metric_throws.so", tmp_path / "My-Metric.so")
    refused = core.call("--describe", odd)
    assert refused.returncode == 2
    assert '"My-Metric" cannot name a metric' in refused.stderr
