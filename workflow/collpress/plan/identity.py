"""Identity by content: a point's id is what a person asked for, its key is that and all that could change its value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collpress.plan import exchange, serving
from collpress.plan.launch import Launch
from collpress.plan.machine import Machine
from collpress.plan.offer import Dataset, Metric, Offer
from collpress.plan.runner import is_ours, runner_identity
from collpress.spec.campaign import Measure
from collpress.spec.factors import FACTORS, Value


def digest(value: Any) -> str:
    """32 hex digits of the canonical JSON of a value: the order of keys does not count."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


def point_id(factors: Mapping[str, Value]) -> str:
    """The id of a point.

    Factors at their default are left out, so that a factor which is invented later leaves the older ids alone.
    """
    return digest({name: value for name, value in factors.items() if value != FACTORS[name].default})


@dataclass(frozen=True)
class Build:
    """What of an installation enters every key.

    Parameters
    ----------
    core : sha256 of the core.
    compiler, flags : the compiler's version and the flags it was given.
    mpi : kind, version and library hash.
    """

    core: str
    compiler: str
    flags: str
    mpi: tuple[str, str, str]

    @classmethod
    def of(cls, build: Mapping[str, Any]) -> Build:
        """From a build record with a core."""
        mpi = build["mpi"]
        return cls(
            build["core"]["sha256"],
            build["compiler"]["version"],
            build["compiler"]["flags"],
            (mpi["kind"], mpi["version"], mpi["library_sha256"]),
        )

    def as_json(self) -> dict[str, Any]:
        return {"core": self.core, "compiler": self.compiler, "flags": self.flags, "mpi": list(self.mpi)}


def launch_identity(build: Build, launcher: str, launch: Launch) -> dict[str, Any]:
    """What all points of a batch share besides their shape: core, compiler, MPI, launcher, environment, binding."""
    return {
        "build": build.as_json(),
        "launcher": launcher,
        "environment": launch.environment,
        "binding": launch.binding,
        "oversubscribed": launch.oversubscribed,
        **({"hosts": launch.hosts.as_json()} if launch.hosts else {}),
    }


def point_key(
    identity: str,
    factors: Mapping[str, Value],
    offer: Offer,
    datasets: Mapping[str, Dataset],
    shared: Mapping[str, Any],
    measure: Measure,
    machine: Machine,
    metrics: Sequence[Metric] = (),
) -> str:
    """The key of a supported point; plugins and data enter only where the point uses them.

    Parameters
    ----------
    identity : the point's id.
    shared : what `launch_identity` gives.
    metrics : those that the point measures its fidelity with.
    """
    algorithm = offer.algorithm(str(factors["collective"]), str(factors["algorithm"]))
    compresses = algorithm is not None and algorithm.kind == "compressed"
    codec = offer.codec(str(factors["codec"])) if compresses else None
    dataset = datasets.get(str(factors["dataset"]))
    used: dict[str, Any] = {"metrics": {m.name: m.sha256 for m in metrics}} if metrics else {}
    if factors.get("imbalance") == "random":
        used["imbalance_seed"] = exchange.SEED
    if is_ours(factors):
        used["runner"] = runner_identity()
    if dataset is not None:
        used |= serving.identity(factors, dataset)
    return digest(
        {
            "id": identity,
            "algorithm": algorithm.sha256 if algorithm else None,
            "codec": [codec.sha256, codec.library] if codec else None,
            "dataset": dataset.sha256 if dataset else None,
            "shared": shared,
            "measure": measure.model_dump(exclude={"launches"}),
            "cpu_model": machine.cpu_model,
            **used,
        }
    )


def batch_digest(keys: Iterable[str], launches: int) -> str:
    """What triggers a batch: its points' keys, in any order, and the number of launches."""
    return digest({"keys": sorted(keys), "launches": launches})
