"""The plan line of a point: what the core is told, key by key (docs/contracts.md, "Plan file")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collpress.plan import exchange, serving
from collpress.plan.offer import Dataset, Metric, Offer
from collpress.spec.campaign import Measure
from collpress.spec.factors import Value
from collpress.usual import unusual


def plan_line(
    key: str,
    identity: str,
    factors: Mapping[str, Value],
    offer: Offer,
    datasets: Mapping[str, Dataset],
    measure: Measure,
    metrics: Sequence[Metric] = (),
) -> dict[str, str]:
    """All entries as texts, in the contract's order; keys that a point has no use for are absent.

    `at_most` and `at_least` are one launch's part of the point's times;
    `metrics` are those of `metrics.metrics_of_point`.
    """
    collective, name = str(factors["collective"]), str(factors["algorithm"])
    algorithm = offer.algorithm(collective, name)
    line = {"key": key, "id": identity, "collective": collective, "algorithm": name}
    if algorithm is not None and algorithm.path is not None:
        line["plugin"] = algorithm.path
        if algorithm.tagged is not None:
            line["tagged_plugin"] = algorithm.tagged
    codec = offer.codec(str(factors["codec"]))
    if algorithm is not None and algorithm.kind == "compressed" and codec is not None:
        line |= {"codec": str(factors["codec"]), "codec_plugin": codec.path}
        if codec.parameters:
            line["codec_parameters"] = " ".join(f"{value:.17g}" for value in codec.values(str(factors["codec"])))
    kind, _, number = str(factors["error_bound"]).partition(" ")
    line["bound"] = kind
    if number:
        line["bound_value"] = number
    line |= {name: str(factors[name]) for name in ("dtype", "op", "message_bytes")}
    # Knobs are the launch's, which the core does not see.
    line |= {name: str(value) for name, value in unusual(factors).items() if name != "knobs"}
    if factors.get("imbalance") == "random":
        line["imbalance_seed"] = str(exchange.SEED)
    dataset = datasets.get(str(factors["dataset"]))
    line |= {"data": "pattern"} if dataset is None else serving.entries(factors, dataset)
    line |= {name: str(getattr(measure, name)) for name in ("warmup", "min_iterations", "max_iterations")}
    line["precision"] = repr(measure.precision)
    line["at_most"] = repr(measure.at_most / measure.launches)
    line["at_least"] = repr(measure.least / measure.launches)
    line["instrumented"] = str(measure.instrumented)
    if metrics:
        line["metrics"] = "\n".join(metric.path for metric in metrics)
    return line
