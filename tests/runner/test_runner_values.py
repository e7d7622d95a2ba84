"""What ranks send from Python: bit for bit what the core sends."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest
from native_core import Core, Entry, plan_text, point
from runner_process import Runner

from collpress.collectives import COLLECTIVES, UNEVEN
from collpress.runner.dtypes import DTYPES
from collpress.runner.exchange import IMBALANCES
from collpress.runner.plan import WRAPS, read_plan
from collpress.runner.values import Values
from collpress.runner.verdict import PointError

RANKS = 5


def compare(core: Core, folder: Path, entries: list[Entry], ranks: int) -> None:
    """The messages of all ranks, one point behind another; and why some cannot be sent."""
    plan = folder / "plan.tsv"
    plan.write_text(plan_text(entries), encoding="utf-8")
    command = [core.build / "served-values", plan, str(ranks), "1000"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    messages, refused = [], []
    for one in read_plan(str(plan)):
        try:
            values = Values(one, one.exchange(ranks))
        except PointError as error:
            refused.append(str(error))
            continue
        lengths = values.exchange.contributions()
        messages += [values.stored(rank, 0, length).tobytes() for rank, length in enumerate(lengths)]
    assert refused == done.stderr.decode().splitlines()
    assert b"".join(messages) == done.stdout
    assert done.stdout


def test_the_pattern_is_the_cores_for_every_dtype_and_operation(core: Core, tmp_path: Path) -> None:
    choices = itertools.product(DTYPES.values(), ("sum", "prod"), (1, RANKS))
    for dtype, op, ranks in choices:
        entry = point(dtype=dtype.name, op=op, message_bytes=2500 * dtype.bytes)
        compare(core, tmp_path, [entry], ranks)


def test_every_collective_has_the_cores_contributions(core: Core, tmp_path: Path) -> None:
    entries = [point(collective=c, message_bytes=4 * 1001) for c in COLLECTIVES]
    entries += [point(collective=c, message_bytes=4 * 1001, root=3) for c in ("scatter", "bcast", "gather")]
    uneven = itertools.product(sorted(UNEVEN), IMBALANCES, (7, 2**64 - 1))
    entries += [
        point(collective=c, message_bytes=4 * 1001, imbalance=kind, imbalance_seed=seed) for c, kind, seed in uneven
    ]
    compare(core, tmp_path, entries, RANKS)


def stored(folder: Path, dtype: str, elements: int) -> Path:
    """Values of all magnitudes, among them zeros of both signs, the largest, subnormal and infinite ones, and NaN."""
    rng = np.random.default_rng(5)
    kind = DTYPES[dtype].stored
    if kind.kind == "f":
        values = (rng.normal(size=elements) * 10.0 ** rng.integers(-7, 4, size=elements)).astype(kind)
        largest, tiny = np.finfo(kind).max, np.finfo(kind).smallest_subnormal
        values[[0, 5, 300, 301, 302, -2, -1]] = [0.0, -0.0, np.inf, largest, tiny, np.nan, 7.0]
    else:
        values = rng.integers(0, 100, size=elements).astype(kind)
    path = folder / f"{dtype}.bin"
    values.tofile(path)
    return path


@pytest.mark.parametrize("dtype", DTYPES)
def test_files_are_served_as_the_core_serves_them(core: Core, tmp_path: Path, dtype: str) -> None:
    elements, size = 3 * 401, DTYPES[dtype].bytes
    path = stored(tmp_path, dtype, elements)
    stored_as = {None: (size, path)}
    if dtype == "float32":
        stored_as["bfloat16"] = (size, stored(tmp_path, "bfloat16", elements))
    entries = []
    for (kind, (_, file)), parts, wrap, count, collective in itertools.product(
        stored_as.items(), (None, 3), WRAPS, (80, 401, 1500), ("allreduce", "alltoall", "bcast")
    ):
        changes = {"wrap_seed": 2**64 - 3, "wrap_amplitude": 0.1} if wrap == "perturb" else {}
        if wrap == "perturb" and DTYPES[dtype].is_integer:
            continue
        entries.append(
            point(
                collective=collective, dtype=dtype, message_bytes=count * size, data="file", data_path=file,
                data_elements=elements, data_dtype=kind, data_parts=parts, wrap=wrap, root=None, **changes,
            )
        )  # fmt: skip
    compare(core, tmp_path, entries, RANKS)


def test_special_values_and_bytes_that_come_back_are_judged_like_the_cores(
    core: Core, runner: Runner, tmp_path: Path
) -> None:
    """NaN, infinities, overflow, subnormal numbers, in sums, extremes and products; and what repeats itself."""
    entries = []
    for dtype in ("float32", "float64", "float16", "bfloat16", "int8", "int32"):
        stored_as = DTYPES[dtype]
        path = tmp_path / f"{dtype}.special.bin"
        np.random.default_rng(2).integers(0, 256, 3 * 200 * stored_as.bytes, np.uint8).tofile(path)  # any bits at all
        for op, wrap in itertools.product(("sum", "max", "min", "prod"), ("none", "mirror")):
            elements, bytes_ = (600, 200) if wrap == "none" else (250, 200)
            entries.append(
                point(
                    dtype=dtype, op=op, message_bytes=bytes_ * stored_as.bytes, data="file", data_path=path,
                    data_elements=elements, wrap=wrap, data_unique_bytes=400,
                    warmup=0, min_iterations=2, max_iterations=2,
                )
            )  # fmt: skip
    own, cores = (program.launch(tmp_path / str(i), 3, entries) for i, program in enumerate((runner, core)))
    for entry in entries:
        mine, theirs = own.record(entry), cores.record(entry)
        judged = ("status", "reason", "check", "unique_bytes", "total_bytes")
        approximately = {k: v for k, v in mine.items() if k in judged}
        expected = {k: v for k, v in theirs.items() if k in judged}
        for name in ("mean_error", "psnr_db"):  # sums in another order
            for record in (approximately, expected):
                value = record["check"].pop(name)
                record[name] = None if value is None else pytest.approx(value, rel=1e-9, abs=1e-300)
        assert approximately == expected, mine["requested"]
