"""What a record says in numbers, and how each number becomes a variable of the cube."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collpress.records import Record

PHASES = ("compress", "send", "decompress", "reduce", "wait", "copy", "other")
"""What an algorithm's calls of its interface are for, and what is in none of them; in the order of figures' stacks."""
OUTSIDE = "(outside)"
"""Stands among the phases that an algorithm tags for what is in none of them."""

FIELDS = {"copy": "copy_"}
"""How a record calls a phase, where it is not the phase's name."""


@dataclass(frozen=True)
class Quantity:
    """One number of a record: where it is, how launches are summarised, and its attributes.

    `over_launches` says what stands in the cube: the median, minimum or maximum over a point's ok launches. `evidence`
    quantities count for launches with status invalid too, because they show how wrong a result was.
    """

    path: tuple[str, ...]
    over_launches: Literal["median", "minimum", "maximum"]
    long_name: str
    units: str
    comment: str = ""
    evidence: bool = False

    def of(self, record: Record) -> float:
        """The number in `record`, NaN where the record has null."""
        value: Any = record
        for name in self.path:
            if value is None:
                break
            value = getattr(value, name)
        return float("nan") if value is None else float(value)


LAUNCH: Mapping[str, Quantity] = {
    "latency_launch_median": Quantity(
        ("time_s", "median"),
        "median",
        "median time in a launch",
        "s",
        "over the launch's iterations, each the maximum over ranks of end minus start on the rank's own clock",
    ),
    "latency_launch_ci_low": Quantity(
        ("time_s", "ci_low"), "median", "lower 95 % confidence limit of the median within a launch", "s"
    ),
    "latency_launch_ci_high": Quantity(
        ("time_s", "ci_high"), "median", "upper 95 % confidence limit of the median within a launch", "s"
    ),
    "latency_launch_min": Quantity(("time_s", "min"), "median", "smallest time in a launch", "s"),
    "latency_launch_p99": Quantity(("time_s", "p99"), "median", "99th percentile of the times in a launch", "s"),
}
"""Kept per launch, with the dimension `launch`."""

CELL: Mapping[str, Quantity] = {
    "latency_min": Quantity(("time_s", "min"), "minimum", "smallest time of any iteration", "s"),
    "latency_p99": Quantity(("time_s", "p99"), "median", "99th percentile of the times, median over launches", "s"),
    "latency_mean_over_ranks": Quantity(
        ("mean_over_ranks_s",),
        "median",
        "mean over ranks and iterations of the time",
        "s",
        "what OMB prints as average latency; median over launches",
    ),
    "start_skew": Quantity(("start_skew_s",), "median", "median over iterations of last start minus first start", "s"),
    "unique_bytes": Quantity(
        ("unique_bytes",),
        "minimum",
        "bytes of all ranks' messages that come from different elements of the dataset",
        "byte",
        "less than all of them where data repeat themselves or are wrapped; NaN for pattern",
    ),
    "raw_bytes": Quantity(
        ("codec", "raw_bytes"), "median", "size of rank 0's message before compression", "byte", "NaN without a codec"
    ),
    "compressed_bytes": Quantity(
        ("codec", "compressed_bytes"),
        "median",
        "size of rank 0's message after compression",
        "byte",
        "NaN without a codec",
    ),
    "wire_bytes": Quantity(
        ("codec", "wire_bytes"), "median", "bytes that rank 0 sends in one call", "byte", "NaN without a codec"
    ),
    "max_abs_error": Quantity(
        ("check", "max_abs_error"),
        "maximum",
        "largest absolute error of the result",
        "",
        "against the float64 oracle, in units of the data; present for invalid results too",
        True,
    ),
    "codec_bound": Quantity(
        ("check", "bound"),
        "maximum",
        "error that the codec may cause in the result",
        "",
        "in units of the data; what the algorithm makes of the bound of one compression",
        True,
    ),
    "identical": Quantity(
        ("check", "identical"),
        "minimum",
        "whether all ranks ended with the same bits",
        "1",
        "0 if they differ in any launch; of allreduce, allgather, allgatherv, and of bcast but for root; NaN elsewhere",
        True,
    ),
    "rounding_bound": Quantity(
        ("check", "rounding_bound"),
        "maximum",
        "error that the plain sum's rounding may cause",
        "",
        "in units of the data",
        True,
    ),
    "mean_error": Quantity(
        ("check", "mean_error"),
        "median",
        "mean error of the result",
        "",
        "signed, in units of the data; NaN where undefined",
        True,
    ),
    "value_range": Quantity(
        ("check", "value_range"), "median", "value range of the exact result", "", "in units of the data", True
    ),
    "psnr": Quantity(
        ("check", "psnr_db"),
        "minimum",
        "peak signal-to-noise ratio of the result",
        "dB",
        "NaN where infinite (an exact result) or undefined",
        True,
    ),
    "phase_total": Quantity(
        ("phases_s", "total"),
        "median",
        "time of the instrumented pass",
        "s",
        "of the rank whose total is largest; a pass of its own, unlike latency_median; NaN for library algorithms",
    ),
    "phase_iterations": Quantity(
        ("phases_s", "iterations"),
        "minimum",
        "iterations of the instrumented pass",
        "1",
        "in the launch with the fewest, where a budget of time ended the pass; NaN for library algorithms",
    ),
}
"""Summarised over launches."""

OVERLAP: Mapping[str, Quantity] = {
    "overlap_pure": Quantity(
        ("overlap", "pure_s"), "median", "time of the nonblocking call and its wait alone", "s", "maximum over ranks"
    ),
    "overlap_compute": Quantity(
        ("overlap", "compute_s"), "median", "time of the computation alone", "s", "maximum over ranks"
    ),
    "overlap_overlapped": Quantity(
        ("overlap", "overlapped_s"),
        "median",
        "time of the nonblocking call, the computation and the wait together",
        "s",
        "maximum over ranks",
    ),
    "overlap_omb": Quantity(
        ("overlap", "omb_percent"),
        "median",
        "overlap as OMB defines it",
        "percent",
        "100 max(0, 1 - (overlapped - compute) / pure)",
    ),
    "overlap_imb": Quantity(
        ("overlap", "imb_percent"),
        "median",
        "overlap as IMB-NBC defines it",
        "percent",
        "100 (pure + compute - overlapped) / max(pure, compute), at least 0 and at most 100",
    ),
}
"""As `CELL`, in groups that have a point with a nonblocking call; NaN for blocking ones."""

PHASE: Mapping[str, Quantity] = {
    phase: Quantity(("phases_s", FIELDS.get(phase, phase)), "median", f"time in phase {phase}", "s") for phase in PHASES
}
"""With the dimension `phase`: summarised over launches, and of each launch."""
