"""Launches under MPI: every algorithm, dtype, operation and size is right, and its record says what happened."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, Entry, Outcome, plan_text, point

REFERENCE = ("ring", "recursive_doubling", "rabenseifner")
RECORD_KEYS = {
    "kind", "schema", "key", "id", "launch", "attempt", "order", "utc", "elapsed_s", "by", "status", "reason", "noisy",
    "requested", "effective", "count", "message_bytes", "total_bytes", "unique_bytes", "warmup",
    "measuring_s", "n", "stop_reason",
    "time_s", "mean_over_ranks_s", "start_skew_s",
    "late", "clock_residual_s", "noise", "phases_s", "overlap", "codec", "check", "fidelity", "feedback",
    "resources", "samples", "trace",
}  # fmt: skip


def everything(core: Core, user: Path, ranks: int) -> list[Entry]:
    """Each algorithm with each dtype and operation, for no element, one, fewer than ranks, and an odd number."""
    entries = []
    offers = json.loads(core.call("--offers").stdout)["algorithms"]
    library = [algorithm["name"] for algorithm in offers if algorithm["collective"] == "allreduce"]
    for dtype, op, count in itertools.product(("float32", "float64", "int32"), ("sum", "max"), (0, 1, ranks - 1, 1031)):
        shape: dict[str, Any] = {"dtype": dtype, "op": op, "message_bytes": count * (8 if dtype == "float64" else 4)}
        entries += [core.reference(name, **shape) for name in REFERENCE]
        entries.append(core.compressed("codec_copies", user / "codec_copies.so", **shape))
        entries += [point(algorithm=f"library:{name}", **shape) for name in library]
    unique = {entry["key"]: entry for entry in entries}
    return list(unique.values())


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5])
def test_every_algorithm_is_right_for_every_dtype_operation_and_size(
    core: Core, user: Path, tmp_path: Path, ranks: int
) -> None:
    entries = everything(core, user, ranks)
    outcome = core.launch(tmp_path, ranks, entries)
    assert outcome.code == 0, outcome.errors
    assert [r for r in outcome.records() if r["status"] != "ok"] == []
    assert sorted(r["key"] for r in outcome.records()) == sorted(e["key"] for e in entries)
    assert all(r["check"]["max_abs_error"] in (0, None) for r in outcome.records())


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """12000 smooth float32 values in a file."""
    path = tmp_path_factory.mktemp("data") / "fie ld é.bin"
    values = np.cumsum(np.random.default_rng(3).normal(size=12000)).astype("<f4")
    values.tofile(path)
    return path, values


@pytest.fixture(scope="module")
def shown(core: Core, user: Path, tmp_path_factory: pytest.TempPathFactory, field: tuple[Path, np.ndarray]) -> Shown:
    return Shown(core, user, tmp_path_factory.mktemp("shown"), field[0])


class Shown:
    """One launch on 3 ranks with samples, whose records the tests below look at."""

    def __init__(self, core: Core, user: Path, folder: Path, data: Path) -> None:
        file = {
            "data": "file",
            "data_path": data,
            "data_elements": 12000,
            "message_bytes": 16000,
            "min_iterations": 8,
            "max_iterations": 8,
        }
        deltapack = core.build / "plugins/codecs/deltapack.so"
        self.folder = folder
        self.library = point(algorithm="library:ring", **{**file, "max_iterations": 20})
        self.reference = core.reference("ring", **{**file, "max_iterations": 60})
        self.relative = core.compressed("deltapack", deltapack, **file, bound="rel", bound_value="1e-3")
        self.absolute = core.compressed("deltapack", deltapack, **file, bound="abs", bound_value="0.5")
        self.lies = core.compressed("codec_lies", user / "codec_lies.so", **file)
        self.short_of_data = core.reference("ring", **{**file, "message_bytes": 16004})
        self.short_file = core.reference("ring", **{**file, "data_elements": 12001})
        self.no_file = core.reference("ring", **{**file, "data_path": folder / "absent.bin"})
        self.odd_bytes = core.reference("ring", message_bytes=13)
        self.unknown = point(algorithm="library:rnig")
        self.no_plugin = core.reference("ring", plugin=folder / "absent.so")
        self.wrong_kind = core.reference("ring", plugin=deltapack)
        self.misnamed = core.reference("ring", plugin=core.build / "plugins/compressed/allreduce/ring.so")
        self.refuses = core.compressed("codec_refuses", user / "codec_refuses.so")
        self.absent_on_1 = core.compressed("codec_absent_on_rank_1", user / "codec_absent_on_rank_1.so")
        settings = (user / "codec_takes_settings.so", user / "codec_misdeclares.so")
        self.settled = core.compressed("takes(group=64)", settings[0], codec_parameters="64 1")
        self.unsettled = core.compressed("takes", settings[0], codec_parameters="64 0")
        self.overlooked = core.compressed("takes", settings[0])
        self.misdeclares = core.compressed("misdeclares", settings[1], codec_parameters="128")
        self.unbounded = core.compressed("deltapack", deltapack)
        self.vain_bound = core.compressed("codec_copies", user / "codec_copies.so", bound="abs", bound_value="1")
        self.wrong_dtype = core.compressed("deltapack", deltapack, dtype="int32", bound="abs", bound_value="1")
        self.repeats = core.reference("ring", **file, data_unique_bytes=10000)
        self.does_not_repeat = core.reference("ring", **file, data_unique_bytes=10**9)
        self.above_bound = core.compressed(
            "codec_above_bound", user / "codec_above_bound.so", **file, bound="abs", bound_value="0.5"
        )
        self.lossless_liar = core.compressed("codec_lossless_liar", user / "codec_lossless_liar.so", **file)
        self.unpromised = {
            (name, dtype, op): core.compressed(name, user / f"{name}.so", message_bytes=800, dtype=dtype, op=op)
            for name, dtype, op in UNPROMISED
        }
        self.believes_wait = {
            size: core.reference("believes_wait", plugin=user / "believes_wait.so", message_bytes=size)
            for size in (4, 404, 400_004)
        }
        self.huge = core.compressed("codec_copies", user / "codec_copies.so", message_bytes=2**31)
        self.short_of_time = core.reference("ring", at_most="1e-9", min_iterations=50, max_iterations=60)
        self.entries = [e for e in vars(self).values() if isinstance(e, dict) and "key" in e]
        for several in (self.unpromised, self.believes_wait):
            self.entries += several.values()
        self.samples = folder / "samples.bin"
        self.outcome: Outcome = core.launch(
            folder, 3, self.entries, "--samples", self.samples, "--samples-mode", "all", launch=2, seed=9
        )
        assert self.outcome.code == 0, self.outcome.errors

    def record(self, entry: Entry) -> dict[str, Any]:
        return self.outcome.record(entry)


UNPROMISED = [
    *itertools.product(
        ("codec_infinite", "codec_not_a_number", "codec_negative"), ("float32", "int32"), ("sum", "max")
    ),
    ("codec_infinite", "float64", "sum"),
    ("codec_vast", "float32", "sum"),
]


def test_the_journal_tells_the_launch_from_begin_to_end(shown: Shown) -> None:
    lines = shown.outcome.lines
    assert [line["kind"] for line in lines] == ["launch", *["begin", "record"] * len(shown.entries), "end"]
    first = lines[0]
    assert first["ranks"] == 3
    assert len(first["hosts"]) == len(first["cpus"]) == 3
    assert first["mpi_library"].startswith("Open MPI")
    assert first["clock"]["name"] == "CLOCK_MONOTONIC"
    assert first["order"] == [line["key"] for line in lines if line["kind"] == "begin"]
    assert [r["order"] for r in shown.outcome.records()] == list(range(len(shown.entries)))
    assert {(line["launch"], line["attempt"], line["schema"]) for line in lines} == {(2, 1, 1)}
    assert all(set(r) == RECORD_KEYS for r in shown.outcome.records())


def test_points_are_measured_in_another_order_than_they_are_written(shown: Shown) -> None:
    assert shown.outcome.lines[0]["order"] != [entry["key"] for entry in shown.entries]


def test_a_record_repeats_the_plan_line_and_says_how_the_algorithm_is_known(shown: Shown) -> None:
    record = shown.record(shown.library)
    assert record["requested"] == {k: v for k, v in shown.library.items() if k not in ("key", "id")}
    assert record["effective"] == {
        "algorithm": "ring",
        "known_by": "read back",
        "abs_bound": None,
        "asked_bound": None,
        "fanout": None,
        "operation": "built-in",
        "consistent_with": None,
        "segment_bytes": None,
    }
    assert shown.record(shown.reference)["effective"]["known_by"] == "construction"
    assert (record["count"], record["total_bytes"], record["unique_bytes"]) == (4000, 48000, 48000)


def test_bytes_that_a_file_repeats_are_counted_once(shown: Shown) -> None:
    assert shown.record(shown.repeats)["unique_bytes"] == 10000
    assert shown.record(shown.does_not_repeat)["unique_bytes"] == 48000
    assert shown.record(shown.believes_wait[404])["unique_bytes"] is None  # the pattern


def test_times_are_ordered_and_follow_from_the_samples(shown: Shown) -> None:
    record = shown.record(shown.reference)
    place = record["samples"]
    assert place["file"] == shown.samples.name
    raw = shown.samples.read_bytes()[place["offset"] : place["offset"] + place["bytes"]]
    assert hashlib.sha256(raw).hexdigest() == place["sha256"]
    stamps = np.frombuffer(raw, "<i8").reshape(3, record["n"], 2)
    durations = (stamps[:, :, 1] - stamps[:, :, 0]) * 1e-9
    slowest = durations.max(axis=0)
    times = record["time_s"]
    assert times["median"] == pytest.approx(np.median(slowest))
    assert times["mean"] == pytest.approx(slowest.mean())
    assert times["sd"] == pytest.approx(slowest.std(ddof=1))
    assert times["mad"] == pytest.approx(np.median(np.abs(slowest - np.median(slowest))))
    assert [times[f"p{q:02}"] for q in (5, 25, 75, 95, 99)] == pytest.approx(
        list(np.percentile(slowest, [5, 25, 75, 95, 99]))
    )
    assert (times["min"], times["max"]) == pytest.approx((slowest.min(), slowest.max()))
    assert record["mean_over_ranks_s"] == pytest.approx(durations.mean())
    skew = np.median(stamps[:, :, 0].max(axis=0) - stamps[:, :, 0].min(axis=0)) * 1e-9
    assert record["start_skew_s"] == pytest.approx(skew)


def test_the_interval_of_the_median_covers_95_percent_by_the_binomial_law(shown: Shown) -> None:
    record = shown.record(shown.relative)
    assert record["n"] == 8
    raw = shown.samples.read_bytes()[record["samples"]["offset"] :][: record["samples"]["bytes"]]
    stamps = np.frombuffer(raw, "<i8").reshape(3, 8, 2)
    slowest = np.sort((stamps[:, :, 1] - stamps[:, :, 0]).max(axis=0)) * 1e-9
    # P(at most 0 of 8 below the median) = 0.0039, P(at most 1) = 0.035: the first and the last value.
    assert (record["time_s"]["ci_low"], record["time_s"]["ci_high"]) == pytest.approx((slowest[0], slowest[7]))


def test_stopping_is_explained(shown: Shown) -> None:
    for record in (shown.record(shown.reference), shown.record(shown.library)):
        half = (record["time_s"]["ci_high"] - record["time_s"]["ci_low"]) / 2 / record["time_s"]["median"]
        imprecise = "precision" in record["noise"]["reasons"]
        assert imprecise == (half > 0.05)
        assert record["noisy"] == bool(record["noise"]["reasons"])
        assert record["stop_reason"] == ("max_iterations" if imprecise else "precision")
    hurried = shown.record(shown.short_of_time)
    assert (hurried["n"], hurried["stop_reason"], hurried["noisy"], hurried["warmup"]) == (3, "time", True, 0)
    assert hurried["time_s"]["ci_low"] is None  # three values have no 95 % interval


def test_phases_cover_the_call_and_belong_to_our_own_algorithms_only(shown: Shown) -> None:
    phases = shown.record(shown.relative)["phases_s"]
    assert phases["iterations"] == 2
    parts = [phases[name] for name in ("compress", "send", "decompress", "reduce", "wait", "other")]
    assert all(part >= 0 for part in parts)
    assert min(phases["compress"], phases["decompress"], phases["wait"]) > 0
    assert phases["reduce"] == 0  # deltapack decompresses onto the sum
    assert sum(parts) == pytest.approx(phases["total"], rel=0.5)
    plain = shown.record(shown.reference)["phases_s"]
    assert plain["compress"] == plain["decompress"] == 0
    assert plain["reduce"] > 0
    assert shown.record(shown.library)["phases_s"] is None


def test_a_relative_bound_is_of_the_range_over_all_ranks_and_holds(
    shown: Shown, field: tuple[Path, np.ndarray]
) -> None:
    record = shown.record(shown.relative)
    values = field[1].astype(float)
    bound = 1e-3 * (values.max() - values.min())
    assert record["effective"]["abs_bound"] == pytest.approx(bound)
    assert record["check"]["bound"] == pytest.approx(3 * bound)
    assert 0 < record["check"]["max_abs_error"] <= record["check"]["bound"] + record["check"]["rounding_bound"]
    exact = values.reshape(3, 4000).sum(axis=0)
    assert record["check"]["value_range"] == pytest.approx(exact.max() - exact.min())
    assert 40 < record["check"]["psnr_db"] < 90
    assert shown.record(shown.absolute)["effective"]["abs_bound"] == 0.5


def test_the_codec_is_accounted_for(shown: Shown) -> None:
    codec = shown.record(shown.relative)["codec"]
    assert codec["raw_bytes"] == 16000
    assert codec["ratio"] == pytest.approx(16000 / codec["compressed_bytes"])
    assert codec["ratio"] > 1.5
    assert codec["wire_bytes"] < 4 / 3 * 16000  # what the ring sends without a codec
    assert shown.record(shown.reference)["codec"] is None


def test_a_codec_that_lies_about_its_error_is_invalid(shown: Shown) -> None:
    assert shown.record(shown.lies)["status"] == "invalid"


@pytest.mark.parametrize(("name", "bound"), [("above_bound", "0.5"), ("lossless_liar", "0")])
def test_a_codec_that_states_more_than_it_declares_is_invalid(shown: Shown, name: str, bound: str) -> None:
    record = shown.record(getattr(shown, name))
    assert record["status"] == "invalid"
    assert f"states a worst error above its bound: 1000000 above {bound}" in record["reason"]


@pytest.mark.parametrize("case", UNPROMISED)
def test_a_codec_without_a_finite_bound_lets_nothing_pass_unchecked(shown: Shown, case: tuple[str, str, str]) -> None:
    record = shown.record(shown.unpromised[case])
    assert record["status"] == "failed"
    assert record["reason"] == ("the codec states no finite bound for these values, so the result cannot be checked")
    assert record["n"] > 0


@pytest.mark.parametrize("size", [4, 404, 400_004])
def test_waiting_for_a_send_returns_the_bytes_that_were_posted(shown: Shown, size: int) -> None:
    record = shown.record(shown.believes_wait[size])
    assert record["status"] == "ok", record["reason"]


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("short_of_data", "unsupported", "12000 elements, too few for 3 ranks with 4001 each"),
        ("short_file", "failed", "not the 12001 elements that the plan names"),
        ("no_file", "failed", "absent.bin cannot be opened"),
        ("odd_bytes", "unsupported", "13 bytes are no whole number of float32 values"),
        ("unknown", "unsupported", 'no allreduce algorithm "rnig" (did you mean "ring"?); known: default, '),
        ("no_plugin", "failed", "absent.so cannot be loaded"),
        ("wrong_kind", "failed", "is a codec"),
        ("misnamed", "failed", "compresses; ask for it as compressed:"),
        ("refuses", "failed", "codec codec_refuses cannot represent values of this data"),
        ("absent_on_1", "failed", "rank 1: codec codec_absent_on_rank_1 failed inside"),
        ("unsettled", "unsupported", "codec takes does not support this dtype or configuration"),
        ("overlooked", "failed", "codec takes has 2 parameters, the plan gives 0"),
        ("misdeclares", "failed", "the usual value of the parameter group is outside its limits"),
        ("unbounded", "unsupported", "codec deltapack needs an error bound"),
        ("vain_bound", "unsupported", "codec codec_copies takes no error bound"),
        ("wrong_dtype", "unsupported", "codec deltapack does not support int32"),
        ("huge", "unsupported", "may make streams of more than 2^30 bytes"),
    ],
)
def test_what_cannot_be_measured_says_why_and_the_other_points_go_on(
    shown: Shown, name: str, status: str, reason: str
) -> None:
    record = shown.record(getattr(shown, name))
    assert record["status"] == status
    assert reason in record["reason"]
    assert (record["n"], record["time_s"], record["check"], record["samples"]) == (0, None, None, None)


def test_a_point_that_does_not_fit_into_memory_says_so(core: Core, tmp_path: Path) -> None:
    """Only counted, never touched: two ranks with two vectors, each of half of what the machine has."""
    available = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("MemAvailable")
    )
    large = point(message_bytes=available // 16 * 8, dtype="float64")
    if available // 16 >= 2**31:
        pytest.skip("half of this memory has too many elements for MPI")
    outcome = core.launch(tmp_path, 2, [large])
    assert outcome.record(large)["status"] == "out_of_memory"
    assert "this machine has" in outcome.record(large)["reason"]


def test_a_compressed_point_that_does_not_fit_leaves_the_launch_alive(core: Core, user: Path, tmp_path: Path) -> None:
    """With less address space than the message is long."""
    large = core.compressed("codec_copies", user / "codec_copies.so", message_bytes=2**29)
    small = core.compressed("codec_copies", user / "codec_copies.so")
    plan, journal = tmp_path / "plan.tsv", tmp_path / "journal.jsonl"
    plan.write_text(plan_text([large, small]), encoding="utf-8")
    arguments = ("--plan", plan, "--journal", journal, "--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    done = core.call(*arguments, address_space=2**29)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    status = {line["key"]: line["status"] for line in lines if line["kind"] == "record"}
    assert status == {large["key"]: "out_of_memory", small["key"]: "ok"}


def test_memory_that_one_rank_cannot_get_ends_the_point_on_all_and_nothing_else(core: Core, tmp_path: Path) -> None:
    """Rank 1 alone has less address space than root of this scatter sends; rank 0 could get all that it needs."""
    large = point(collective="scatter", root=1, message_bytes=2**28)
    small = point(collective="scatter", root=1)
    outcome = core.launch(tmp_path, 2, [large, small], address_space_of_rank_1=2**29)
    assert outcome.code == 0, outcome.errors
    record = outcome.record(large)
    assert (record["status"], record["reason"]) == ("out_of_memory", "rank 1: memory could not be allocated")
    assert outcome.record(small)["status"] == "ok"
