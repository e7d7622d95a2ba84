"""The batch index: all that a job needs to know, frozen by the plan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from collpress.errors import CollpressError

_METRICS_S_PER_BYTE = 1e-6
"""Far more than the built-in metrics need, for a user's are slower."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BatchPoint(_Frozen):
    """A point of a batch; `line` holds its entries in the plan file."""

    key: str
    id: str
    experiment: str
    line: dict[str, Any]
    estimate_s: float | None = None

    @property
    def requested(self) -> dict[str, str]:
        """What a record repeats of the plan."""
        return {
            name: str(value) for name, value in self.line.items() if name not in {"key", "id"} and value is not None
        }


class Hosts(_Frozen):
    """What is made of this machine; `rate` of the link or the loopback in bit/s, None: as fast as it goes."""

    kind: Literal["namespaces", "loopback"]
    rate: int | None


class Batch(_Frozen):
    """`plan/batches/<batch>.json`.

    backend : who calls the library: the core, or the runner in Python.
    stall_s : seconds without a sign of life after which the core is killed; by default from each point's `at_most`.
    """

    schema_version: Literal[1] = Field(alias="schema")
    batch: str
    campaign: str
    platform: str
    digest: str
    nodes: int = Field(ge=1)
    ranks: int = Field(ge=1)
    ranks_per_node: int | None = None
    launches: int = Field(ge=1)
    seed: int
    launcher: Literal["mpiexec"]
    oversubscribed: bool
    binding: Literal["core", "hwthread", "none"]
    environment: dict[str, str]
    hosts: Hosts | None = None
    samples: Literal["none", "summary", "per-rank", "all"]
    backend: Literal["mpi", "mpi4py"] = "mpi"
    core: Path
    build: Path
    points: list[BatchPoint] = Field(min_length=1)
    stall_s: float | None = Field(None, gt=0)

    @property
    def program(self) -> Path:
        """What is started on each rank."""
        return self.core if self.backend == "mpi" else Path(sys.executable)

    @property
    def first_arguments(self) -> list[str]:
        """What it is told before all that core and runner have in common."""
        return [] if self.backend == "mpi" else ["-m", "collpress.runner"]

    def limit_s(self, point: BatchPoint | None) -> float:
        """Seconds that a point may stay open, or that the core may be silent outside of points.

        `at_most` bounds the timed iterations; loading data, one slow iteration, the checks and the metrics come on top.
        """
        if self.stall_s is not None:
            return self.stall_s
        if point is None:
            return 60.0
        judged = _METRICS_S_PER_BYTE * float(point.line["message_bytes"]) if point.line.get("metrics") else 0.0
        return 30.0 + 10.0 * float(point.line.get("at_most", 0.0)) + judged


def read_batch(path: Path) -> Batch:
    """Read an index; CollpressError when it is missing or not one."""
    try:
        return Batch.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CollpressError(
            f"no batch index: {error.strerror}", where=str(path), fix="run the campaign: ./run collpress run CAMPAIGN"
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise CollpressError(f"not a batch index: {place}: {first['msg']}", where=str(path)) from None
