"""Data served to ranks: slices or parts, float32 or bfloat16, and what comes behind the end of the data."""

from __future__ import annotations

import itertools
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from native_core import Core, Entry, plan_text, point

Floats = npt.NDArray[np.float32]
ELEMENTS = 1031 * 3
"""Odd, and three parts."""
SEED = 0xFEEDFACECAFEBEEF


@dataclass(frozen=True)
class Case:
    """How one point is served."""

    stored: str
    parts: int | None
    wrap: str
    count: int

    @property
    def amplitude(self) -> float:
        return 2.0**-6 if self.stored == "bfloat16" else 2.0**-12


CASES = [
    Case(*choice)
    for choice in itertools.product(
        ("float32", "bfloat16"), (None, 1, 3), ("none", "mirror", "perturb", "repeat"), (1, 700, 1031, 4096)
    )
]


@dataclass(frozen=True)
class Field:
    """One field in two files, and its values as float32 numbers."""

    folder: Path
    values: dict[str, Floats]

    def entry(self, case: Case, **changes: object) -> Entry:
        entry: dict[str, Any] = {
            "data": "file",
            "data_path": self.folder / f"{case.stored}.bin",
            "data_elements": ELEMENTS,
            "message_bytes": 4 * case.count,
            "data_dtype": case.stored,
            "data_parts": case.parts,
            "wrap": case.wrap,
        }
        if case.wrap == "perturb":
            entry |= {"wrap_seed": SEED, "wrap_amplitude": case.amplitude}
        return point(**entry | changes)


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    """Values of all magnitudes, among them zeros of both signs, the largest, subnormal, infinite ones and NaN."""
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(11)
    values = (rng.normal(size=ELEMENTS) * 10.0 ** rng.integers(-30, 30, size=ELEMENTS)).astype("<f4")
    values[[0, 5, 1030, 1031, 2000, -2, -1]] = [0.0, -0.0, np.inf, np.finfo("<f4").max, 1e-42, np.nan, 7.0]
    halves = (values.view("<u4") >> 16).astype("<u2")  # cut, not rounded: any bits will do
    halves[-2] = 0x7FC0  # NaN
    halves[1031] = 0x7F7F  # the largest
    values.tofile(folder / "float32.bin")
    halves.tofile(folder / "bfloat16.bin")
    widened = (halves.astype("<u4") << 16).view("<f4")
    return Field(folder, {"float32": values, "bfloat16": widened})


def noise(part: int, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """The upper 32 bits of SplitMix64's output, as a number in [-1, 1)."""
    with np.errstate(over="ignore"):
        x = np.uint64(SEED) + np.uint64(part) * np.uint64(0xD1342543DE82EF95)
        x = x + (positions + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(32)).astype(np.uint32).view(np.int32) / 2.0**31


def nearest_bfloat16(values: Floats) -> Floats:
    """Ties to even; NaN are not asked for."""
    bits = values.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def perturbed(values: Floats, case: Case, part: int, positions: npt.NDArray[np.uint64]) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        changed = (values.astype(np.float64) * (1 + case.amplitude * noise(part, positions))).astype(np.float32)
        if case.stored == "bfloat16":
            changed = nearest_bfloat16(changed)
    return np.where(np.isfinite(changed), changed, values)


def served(field: Floats, case: Case, ranks: int) -> Floats | None:
    """(ranks, count) messages, or None where the data do not suffice."""
    parts = field.reshape(case.parts or 1, -1)
    length = parts.shape[1]
    if case.wrap == "none" and ((case.parts and ranks > case.parts) or -(-ranks // len(parts)) * case.count > length):
        return None
    messages = []
    for rank in range(ranks):
        turn, part = divmod(rank, len(parts))
        end = (turn + 1) * case.count
        copies = max(-(-end // length), 1)
        if case.wrap == "mirror":
            endless = np.pad(parts[part], (0, (copies - 1) * length), mode="symmetric")
        else:
            endless = np.tile(parts[part], copies)
        if case.wrap == "perturb":
            positions = np.arange(length, endless.size, dtype=np.uint64)
            endless[length:] = perturbed(endless[length:], case, part, positions)
        messages.append(endless[turn * case.count : end])
    return np.array(messages)


def messages(core: Core, folder: Path, entries: list[Entry], ranks: int, chunk: int) -> tuple[bytes, list[str]]:
    """What the core serves, and why it does not."""
    plan = folder / "plan.tsv"
    plan.write_text(plan_text(entries), encoding="utf-8")
    command = [str(core.build / "served-values"), str(plan), str(ranks), str(chunk)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.decode().splitlines()


@pytest.mark.parametrize(("ranks", "chunk"), [(1, 5000), (2, 997), (3, 4096), (4, 64)])
def test_every_rank_sends_what_numpy_says(core: Core, tmp_path: Path, field: Field, ranks: int, chunk: int) -> None:
    written, refused = messages(core, tmp_path, [field.entry(case) for case in CASES], ranks, chunk)
    place = 0
    for case in CASES:
        expected = served(field.values[case.stored], case, ranks)
        if expected is None:
            continue
        found = np.frombuffer(written, np.uint32, expected.size, place).reshape(expected.shape)
        place += expected.nbytes
        np.testing.assert_array_equal(found, expected.view(np.uint32), err_msg=str(case))
    assert place == len(written)
    assert len(refused) == sum(served(field.values[case.stored], case, ranks) is None for case in CASES)


def test_wrapped_integers_and_doubles_come_back_too(core: Core, tmp_path: Path) -> None:
    numbers = np.arange(101, dtype="<i4")
    for dtype, values in (("int32", numbers), ("float64", numbers / 3)):
        path = tmp_path / f"{dtype}.bin"
        values.tofile(path)
        entry = point(
            data="file",
            data_path=path,
            data_elements=101,
            dtype=dtype,
            message_bytes=150 * values.itemsize,
            wrap="mirror",
        )
        written, _ = messages(core, tmp_path, [entry], 2, 37)
        np.testing.assert_array_equal(np.frombuffer(written, values.dtype), np.pad(values, (0, 199), mode="symmetric"))


def test_ties_are_rounded_to_the_even_bfloat16(core: Core, tmp_path: Path) -> None:
    """So many perturbed ones that some lie in the middle between two bfloat16 numbers."""
    path, count = tmp_path / "one.bin", 1 << 20
    np.array([0x3F80], dtype="<u2").tofile(path)
    case = Case("bfloat16", None, "perturb", count)
    exact = (1 + case.amplitude * noise(0, np.arange(1, count, dtype=np.uint64))).astype(np.float32).view(np.uint32)
    assert np.count_nonzero((exact & 0x1FFFF) == 0x8000) > 3, "ties above an even number"
    entry = Field(tmp_path, {}).entry(case, data_path=path, data_elements=1)
    written, _ = messages(core, tmp_path, [entry], 1, 1 << 16)
    expected = np.concatenate([np.ones(1, np.float32), nearest_bfloat16(exact.view(np.float32))])
    np.testing.assert_array_equal(np.frombuffer(written, np.float32), expected)


def test_a_perturbation_keeps_every_byte_run_from_coming_back(field: Field) -> None:
    case = Case("float32", None, "perturb", 4096)
    usual = np.random.default_rng(1).normal(size=1031).astype(np.float32)
    (message,) = served(usual, case, 1)
    first, second, third = message[:1031], message[1031:2062], message[2062:3093]
    assert not {v.tobytes() for v in first.reshape(-1)} & {v.tobytes() for v in second[second != first]}
    assert np.count_nonzero(second == first) < 5
    assert np.count_nonzero(third == second) < 5
    assert np.abs(second / first - 1).max() < 2.0**-11


REFUSED = [
    (Case("float32", 3, "none", 700), 4, "the dataset has 3 parts, one for each rank, too few for 4 ranks"),
    (Case("float32", 3, "none", 1032), 2, "a part of the dataset has 1031 elements, too few for a message of 1032"),
    (Case("bfloat16", None, "none", 1032), 3, "the dataset has 3093 elements, too few for 3 ranks with 1032 each"),
]


@pytest.mark.parametrize(("case", "ranks", "reason"), REFUSED, ids=[r[2] for r in REFUSED])
def test_data_that_do_not_suffice_are_unsupported_and_served_when_they_may_wrap(
    core: Core, tmp_path: Path, field: Field, case: Case, ranks: int, reason: str
) -> None:
    entries = [
        field.entry(case),
        *(field.entry(Case(case.stored, case.parts, w, case.count)) for w in ("mirror", "repeat")),
    ]
    outcome = core.launch(tmp_path, ranks, entries)
    refused, *wrapped = [outcome.record(entry) for entry in entries]
    assert (refused["status"], refused["reason"]) == ("unsupported", reason)
    assert [r["status"] for r in wrapped] == ["ok", "ok"]


def test_bytes_that_come_back_are_counted_once(core: Core, tmp_path: Path, field: Field) -> None:
    """Four ranks on three parts: rank 3 goes on in part 0, where rank 0 ends."""
    wanted = {
        Case("float32", None, "repeat", 700): 4 * 2800,
        Case("float32", None, "repeat", 1000): 4 * 3093,
        Case("bfloat16", None, "mirror", 4096): 4 * 3093,
        Case("bfloat16", 3, "mirror", 500): 4 * 2000,
        Case("float32", 3, "perturb", 700): 4 * (1031 + 2 * 700),
        Case("float32", 3, "repeat", 4096): 4 * 3093,
    }
    entries = {case: field.entry(case) for case in wanted}
    capped = field.entry(Case("bfloat16", 3, "repeat", 4096), data_unique_bytes=2 * 1031)
    outcome = core.launch(tmp_path, 4, [*entries.values(), capped])
    found = {case: outcome.record(entry) for case, entry in entries.items()}
    assert {r["status"] for r in found.values()} == {"ok"}
    assert {case: r["unique_bytes"] for case, r in found.items()} == wanted
    assert outcome.record(capped)["unique_bytes"] == 4 * 1031
    assert found[Case("float32", 3, "perturb", 700)]["requested"]["wrap_seed"] == str(SEED)


BAD = [
    ({"data": "pattern", "wrap": "repeat"}, 'key "wrap": only data=file has this'),
    ({"data_parts": 2}, 'key "data_parts": does not divide the 3093 elements'),
    ({"data_parts": 0}, 'key "data_parts": does not divide the 3093 elements'),
    ({"row": 1}, 'key "row": must be at least 2 and divide 3093 elements'),
    ({"row": 10}, 'key "row": must be at least 2 and divide 3093 elements'),
    ({"data_parts": 3, "row": 3}, 'key "row": must be at least 2 and divide 1031 elements'),
    ({"plane": 3}, 'key "plane": needs a row'),
    ({"row": 3, "plane": 3}, 'key "plane": must be several rows and divide 3093 elements'),
    ({"row": 3, "plane": 1031}, 'key "plane": must be several rows and divide 3093 elements'),
    ({"row": 3, "plane": 6}, 'key "plane": must be several rows and divide 3093 elements'),
    ({"data": "pattern", "row": 3}, 'key "row": only data=file has this'),
    ({"data_dtype": "float64"}, 'key "data_dtype": unknown value "float64"'),
    ({"dtype": "float64", "data_dtype": "bfloat16"}, 'key "data_dtype": bfloat16 values are sent as float32'),
    ({"wrap": "reflect"}, 'key "wrap": unknown value "reflect"; known: none, mirror, perturb, repeat'),
    ({"wrap": "perturb"}, 'key "wrap_seed": missing'),
    ({"wrap": "mirror", "wrap_seed": 1}, 'key "wrap_seed": only wrap=perturb changes values'),
    ({"wrap": "perturb", "wrap_seed": 1, "wrap_amplitude": 1}, 'key "wrap_amplitude": must be below 1'),
    ({"wrap": "perturb", "dtype": "int32", "data_dtype": None}, "only floating-point values can be perturbed"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[b[1] for b in BAD])
def test_a_plan_that_cannot_be_served_stops_before_mpi(
    core: Core, tmp_path: Path, field: Field, changes: dict[str, Any], message: str
) -> None:
    entry = field.entry(Case("float32", None, "none", 10), **changes)
    if changes.get("data") == "pattern":
        entry = {k: v for k, v in entry.items() if not k.startswith("data_")}
    plan = tmp_path / "plan.tsv"
    plan.write_text(plan_text([entry]), encoding="utf-8")
    arguments = ("--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    done = core.call("--plan", plan, "--journal", tmp_path / "journal.jsonl", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
