"""The journals' side of an experiment: a row per point, a column per launch, before anything is spread over axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collpress.cube.flags import KNOWN_BY, STATUS, WEAKEST_FIRST, safe_word
from collpress.cube.plan import PlannedPoint
from collpress.cube.quantities import CELL, LAUNCH, OVERLAP, PHASE, Quantity
from collpress.printable import one_line
from collpress.records import Journals, Record, Status

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """Numbers of P points in L launches; NaN where a launch has none that counts."""

    status: npt.NDArray[np.int8]
    """(P,) codes of `flags.STATUS`"""
    launch_status: npt.NDArray[np.int8]
    """(P, L)"""
    reasons: list[str]
    """P texts, empty where there is none"""
    iterations: npt.NDArray[np.int32]
    """(P, L), 0 where a launch is not ok"""
    noisy: npt.NDArray[np.bool_]
    """(P, L)"""
    values: Mapping[str, Floats]
    """(P, L) by the names of `LAUNCH`, `CELL`, `OVERLAP` and `PHASE`"""
    effective: list[str]
    """P words: the algorithm that ran, `unknown`, or `differs` between launches"""
    known_by: npt.NDArray[np.int8]
    """(P,) codes of `flags.KNOWN_BY`, the weakest evidence of the ok launches"""


def measured(points: Sequence[PlannedPoint], journals: Journals, launches: int) -> Measured:
    """Gather what the journals say of `points`; a planned point without a record is `not_run`."""
    quantities: dict[str, Quantity] = {**LAUNCH, **CELL, **OVERLAP, **PHASE}
    shape = (len(points), launches)
    values = {name: np.full(shape, np.nan) for name in quantities}
    status = np.full(len(points), STATUS["not_run"], dtype=np.int8)
    launch_status = np.full(shape, STATUS["not_run"], dtype=np.int8)
    iterations = np.zeros(shape, dtype=np.int32)
    noisy = np.zeros(shape, dtype=np.bool_)
    reasons, effective = [""] * len(points), ["unknown"] * len(points)
    known_by = np.zeros(len(points), dtype=np.int8)
    for row, point in enumerate(points):
        if point.key is None:
            word, reason = ("failed", point.failed) if point.failed else ("unsupported", point.unsupported)
            status[row], reasons[row] = STATUS[word], one_line(reason or "") or "no reason given"
            launch_status[row] = STATUS[word]
            continue
        records = {launch: r for launch, r in journals.of(point.key).items() if launch < launches}
        verdict = journals.status(point.key, launches)
        evident = not any(record.refused for record in records.values())
        status[row], reasons[row] = STATUS[verdict.status.value], one_line(verdict.reason or "")
        for launch, record in records.items():
            launch_status[row, launch] = STATUS[record.status.value]
            ok = record.status is Status.OK
            iterations[row, launch] = (record.n or 0) if ok else 0
            noisy[row, launch] = ok and record.noisy
            for name, quantity in quantities.items():
                # A point that is invalid for its link's sake shows nothing of how wrong a result was.
                if (
                    (evident or not quantity.evidence)
                    if ok
                    else (quantity.evidence and record.status is Status.INVALID)
                ):
                    values[name][row, launch] = quantity.of(record)
        effective[row], known_by[row] = _effective([r for r in records.values() if r.status is Status.OK])
    return Measured(status, launch_status, reasons, iterations, noisy, values, effective, known_by)


def _effective(records: Sequence[Record]) -> tuple[str, int]:
    """The one algorithm that ran in all launches, and the weakest evidence for it."""
    said = [r.effective for r in records if r.effective is not None]
    names = {e.algorithm for e in said}
    if not said or names == {None}:
        return "unknown", KNOWN_BY["unknown"]
    weakest = KNOWN_BY[min((safe_word(e.known_by) for e in said), key=WEAKEST_FIRST.index)]
    return (str(names.pop()) if len(names) == 1 else "differs"), weakest
