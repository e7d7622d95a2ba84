"""The lines of a journal as typed, immutable models; the JSON schema beside this file is generated from them.

`python -m collpress.records.schema` prints the schema; a test compares it with `record.schema.json`. Times in seconds,
sizes in bytes, moments in UTC. What is not known is `null`; NaN and infinities are refused.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from collpress.records.status import Status

SCHEMA: Final = 1

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _is_utc(text: str) -> str:
    offset = datetime.fromisoformat(text).utcoffset()
    if offset is None or offset.total_seconds():
        raise ValueError("not a moment in UTC such as 2026-01-31T12:00:00.000000Z")
    return text


Utc = Annotated[str, AfterValidator(_is_utc)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Clock(_Line):
    """The clock that timed a launch."""

    name: str
    resolution_s: Seconds
    overhead_s: Seconds


class Launch(_Line):
    """The first line of one start of the core: the world that its records share."""

    kind: Literal["launch"] = "launch"
    schema_version: Literal[1] = Field(1, alias="schema")
    launch: Count
    attempt: Count
    utc: Utc
    seed: int
    ranks: int
    mpi_library: str
    runner: dict[str, str] | None = None
    hosts: list[str]
    cpus: list[list[int]]
    clock: Clock
    load_average: float | None
    runnable: int | None
    order: list[Key]


class Begin(_Line):
    """Written before a point: whoever dies next is charged to it."""

    kind: Literal["begin"] = "begin"
    schema_version: Literal[1] = Field(1, alias="schema")
    key: Key
    launch: Count
    attempt: Count
    utc: Utc


class End(_Line):
    """The last line of a core that did all of its plan."""

    kind: Literal["end"] = "end"
    schema_version: Literal[1] = Field(1, alias="schema")
    launch: Count
    attempt: Count
    utc: Utc


class Effective(_Line):
    """What really ran, and how that is known.

    segment_bytes, fanout : `null` where the algorithm has none, or chooses by itself and does not tell.
    abs_bound : the codec's. asked_bound : of a message or of the result, as was asked for.
    operation : whether the library reduces with an operation of its own or with one of ours.
    sync : how the ranks really started together.
    consistent_with : algorithms that would have sent the messages that were sent; `null` where nobody counted.
    """

    algorithm: str | None
    known_by: Literal["construction", "read back", "unverified", "traffic", "fingerprint", "consistent"]
    segment_bytes: Count | None
    abs_bound: Number | None
    asked_bound: Number | None = None
    fanout: Count | None = None
    operation: Literal["built-in", "user-defined"] | None = None
    sync: Literal["dissemination", "barrier", "window", "none"] | None = None
    consistent_with: list[str] | None = None


class Times(_Line):
    """Seconds per iteration (maximum over ranks); the confidence limits are those of the median."""

    median: Seconds
    ci_low: Seconds | None
    ci_high: Seconds | None
    min: Seconds
    p05: Seconds
    p25: Seconds
    p75: Seconds
    p95: Seconds
    p99: Seconds
    max: Seconds
    mean: Seconds
    sd: Seconds | None
    mad: Seconds | None


class Phase(_Line):
    """Seconds per call in an algorithm's outermost scopes of one name; an empty name stands for what is in none."""

    name: str
    total: Seconds
    compress: Seconds
    send: Seconds
    decompress: Seconds
    reduce: Seconds
    wait: Seconds
    copy_: Annotated[Seconds, Field(alias="copy")]


class Phases(_Line):
    """Seconds per call in each phase of an instrumented pass, on the rank with the largest total.

    Older records lack `copy`, for their `other` holds it; their algorithms had no `phases` of their own.
    """

    iterations: Count
    rank: Count | None = None
    total: Seconds
    compress: Seconds
    send: Seconds
    decompress: Seconds
    reduce: Seconds
    wait: Seconds
    copy_: Annotated[Seconds, Field(alias="copy")] = 0
    other: Number
    phases: list[Phase] = []


class Codec(_Line):
    """Bytes of rank 0's own message, raw and compressed, and what it sent in one call.

    steps : of the algorithm, seen in the pass with tags. wire_bytes_by_step : the most that any rank sent in each of
    the first 64 of them.
    """

    raw_bytes: Count
    compressed_bytes: Count
    ratio: Number | None
    wire_bytes: Count | None
    steps: Count | None = None
    wire_bytes_by_step: list[Count] = []


class Overlap(_Line):
    """How much of a nonblocking call hides behind a computation; times are medians, s, maxima over ranks.

    pure_s : the call and its wait alone. compute_s : the computation alone. overlapped_s : the call, the computation,
    the wait. omb_percent : 100 max(0, 1 - (overlapped - compute) / pure), as OMB; imb_percent :
    100 (pure + compute - overlapped) / max(pure, compute), at least 0 and at most 100, as IMB-NBC.
    """

    iterations: Count
    pure_s: Seconds
    compute_s: Seconds
    overlapped_s: Seconds
    omb_percent: Number | None
    imb_percent: Number | None


class Noise(_Line):
    """What else went on while the point was timed, on the machine where it is most.

    cpu_pressure : share of the time in which some task waited for a CPU. steal : share of the CPUs' time that a
    hypervisor gave to others; `null` for timings shorter than 0.1 s. preemptions : involuntary context switches for
    each rank and iteration. reasons : why the times are called noisy.
    """

    cpu_pressure: Number | None
    steal: Number | None
    preemptions: Number
    reasons: list[Literal["precision", "pressure", "steal", "preemption"]]


class Worst(_Line):
    """The element with the largest error; values are `null` where they are not finite."""

    rank: Count
    index: Count
    expected: Number | None
    got: Number | None


class Check(_Line):
    """The result compared with a float64 oracle over the whole buffer.

    identical : whether all ranks that should get the same had the same bits; `null` where fewer than two should.
    """

    max_abs_error: Number | None
    bound: Number | None
    rounding_bound: Number | None
    mean_error: Number | None
    value_range: Number | None
    psnr_db: Number | None
    identical: bool | None = None
    worst: Worst | None


class Subject(_Line):
    """What the metrics say of one message or one result of rank 0: metric -> value -> number.

    A number is `null` where it is undefined; `problems` then says why, by metric. `bound`: what an error may be, in
    units of the data. `bound_ok`: whether every finite expected value came out within it; `null` where it is not known,
    and in older records. `left_out`: pairs with a value that is not finite, which metrics do not see.
    """

    bound: Number | None
    bound_ok: bool | None = None
    left_out: Count
    metrics: dict[str, dict[str, Number | None]]
    problems: dict[str, str]


class Fidelity(_Line):
    """Rank 0's message after compression and decompression (`null` without a codec), and its result against the
    float64 oracle."""

    message: Subject | None
    result: Subject | None


class Feedback(_Line):
    """How errors grew while the results of an allreduce, over the number of ranks and moved by one element, were the
    next contributions.

    Columns over the rounds that were kept, all ranks together: the largest absolute and the mean signed error against
    the exact mean in float64, in units of the data, and the root mean square error over the range of that mean; `null`
    where an element is no longer finite (`lost` counts them) or nothing can be compared. `done` is less than `asked`
    where the time was up. `compared`: elements of each rank.
    """

    asked: Annotated[int, Field(ge=1)]
    done: Annotated[int, Field(ge=1)]
    compared: Count
    value_range: Number | None
    round: list[Annotated[int, Field(ge=1)]]
    max_abs_error: list[Number | None]
    nrmse: list[Number | None]
    bias: list[Number | None]
    lost: list[Count]

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        columns = (self.max_abs_error, self.nrmse, self.bias, self.lost)
        if any(len(column) != len(self.round) for column in columns):
            raise ValueError("the columns of feedback are not equally long")
        if self.round != sorted(set(self.round)) or self.round[-1:] != [self.done]:
            raise ValueError("the rounds of feedback do not rise to the last that was done")
        return self


class Resources(_Line):
    """What the point cost the operating system, over all ranks."""

    max_rss_bytes: Count | None
    voluntary_switches: Count | None
    involuntary_switches: Count | None


class Samples(_Line):
    """Where the timed iterations of this record lie in a samples file."""

    file: str
    offset: Count
    bytes: Count
    sha256: str


class Record(_Line):
    """Everything known about one point in one launch and attempt."""

    kind: Literal["record"] = "record"
    schema_version: Literal[1] = Field(1, alias="schema")
    key: Key
    id: Key
    launch: Count
    attempt: Count
    order: Count | None = None
    utc: Utc
    elapsed_s: Seconds | None = None
    by: Literal["core", "runner", "supervisor"]
    backend: Literal["mpi4py"] | None = None
    status: Status
    reason: str | None
    noisy: bool = False
    requested: dict[str, str] | None = None
    effective: Effective | None = None
    count: Count | None = None
    message_bytes: Count | None = None
    total_bytes: Count | None = None
    unique_bytes: Count | None = None
    warmup: Count | None = None
    measuring_s: Seconds | None = None
    n: Count | None = None
    stop_reason: Literal["precision", "max_iterations", "time"] | None = None
    time_s: Times | None = None
    mean_over_ranks_s: Seconds | None = None
    start_skew_s: Number | None = None
    late: Count | None = None
    clock_residual_s: Seconds | None = None
    overlap: Overlap | None = None
    noise: Noise | None = None
    phases_s: Phases | None = None
    codec: Codec | None = None
    check: Check | None = None
    fidelity: Fidelity | None = None
    feedback: Feedback | None = None
    resources: Resources | None = None
    samples: Samples | None = None
    trace: Samples | None = None

    @property
    def refused(self) -> bool:
        """Whether it is invalid before anything was measured, because the platform's link is not what it promises."""
        return self.status is Status.INVALID and self.by == "supervisor"

    @property
    def retryable(self) -> bool:
        """Whether the next run tries again."""
        return self.status.retryable or self.refused

    @model_validator(mode="after")
    def _says_why_or_how_long(self) -> Self:
        if self.status is Status.OK and (self.time_s is None or not self.n):
            raise ValueError("a record with status ok needs time_s and n")
        if self.status is not Status.OK and not self.reason:
            raise ValueError(f"a record with status {self.status} needs a reason")
        return self


Line = Annotated[Launch | Begin | Record | End, Field(discriminator="kind")]
LINE: TypeAdapter[Launch | Begin | Record | End] = TypeAdapter(Line)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of one journal line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a collpress journal",
        **LINE.json_schema(by_alias=True),
    }


def json_schema_text() -> str:
    """The text of `record.schema.json`."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(json_schema_text(), end="")
