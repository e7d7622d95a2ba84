"""A commented platform file for this machine, from what was observed; what cannot be seen is left to the user."""

from __future__ import annotations

import json

from collpress.doctor.installations import Installation
from collpress.doctor.survey import Survey, choices
from collpress.errors import CollpressError
from collpress.printable import one_line
from collpress.spec.platform import MpiBackend, PlatformFile, Toolchain
from collpress.spec.quantities import format_size

POLLING = frozenset({"mpich"})
"""Kinds whose ranks do not yield while they wait."""


def draft(seen: Survey, kind: str | None = None) -> str:
    """The text of a platform file.

    Parameters
    ----------
    kind : the MPI library that is wanted; None: the first usable one, a wheel before what stands on PATH.

    Raises
    ------
    CollpressError : there is no MPI that can be measured with, or none of that kind.
    """
    mpi = _chosen(seen, kind)
    return "\n".join(
        [
            "# yaml-language-server: $schema=../schemas/platform.schema.json",
            f"# Written by collpress platform new on {one_line(seen.host)} from what it observed.",
            "# Every line may be edited; `collpress doctor NAME` checks the result.",
            f"title: {_text(_title(seen, mpi))}",
            "# description: what others should know of this machine: its name and owner, network, who else works on it",
            "",
            *_toolchain(seen, mpi),
            "",
            *_launcher(seen),
            "",
            *_limits(seen, mpi.product.kind in POLLING),
            "",
            *_backends(mpi),
            "",
            *_environment(seen),
            "",
        ]
    )


def _chosen(seen: Survey, kind: str | None) -> Installation:
    allowed = choices(Toolchain, "mpi")
    usable = [
        one for one in seen.mpi if one.product.kind in allowed and not one.lacks and kind in (None, one.product.kind)
    ]
    if usable:
        return usable[0]
    others = "; ".join(_described(one) for one in seen.mpi) or "none"
    raise CollpressError(
        f"no MPI{f' of the kind {kind}' if kind else ''} that collpress can measure with was found",
        allowed=f"{' or '.join(allowed)}, with mpicxx, mpiexec and its library under one prefix; found: {others}",
        fix="./run sets up Open MPI's wheel, collpress build --platform mpich MPICH's; or put another's bin on PATH",
    )


def _title(seen: Survey, mpi: Installation) -> str:
    where = "from its wheel" if mpi.source == "wheel" else f"in {mpi.source}"
    return f"{seen.machine.cpu_model}, {seen.machine.cpus} CPUs, {mpi.product} {where}"


def _toolchain(seen: Survey, mpi: Installation) -> list[str]:
    others = [one for one in seen.mpi if one is not mpi]
    return [
        f"# mpi: {' or '.join(choices(Toolchain, 'mpi'))}; from: wheel, or the prefix of an installation such as /usr.",
        *(f"# Also found: {one_line(_described(one))}." for one in others),
        *([] if others else ["# No other MPI was found on PATH: load its module and write this file again."]),
        f"# Compiler: {one_line(seen.compiler)}.",
        f"toolchain: {{mpi: {mpi.product.kind}, from: {json.dumps(mpi.source, ensure_ascii=False)}}}",
    ]


def _launcher(seen: Survey) -> list[str]:
    allowed = choices(PlatformFile, "launcher")
    found = [f"{name} ({one_line(said)}, {one_line(path)})" for name, (path, said) in seen.launchers.items()]
    lines = [f"# How ranks are started: {' or '.join(allowed)}. On PATH: {', '.join(found) or 'none'}."]
    unknown = [name for name in seen.launchers if name not in allowed]
    if unknown:
        lines.append(f"# {', '.join(unknown)} cannot be asked for here: the mpiexec of the MPI above starts ranks.")
    return [*lines, f"launcher: {allowed[0]}"]


def _limits(seen: Survey, polling: bool) -> list[str]:
    machine, limit, memory = seen.machine, seen.details.get("cpu_limit"), seen.machine.memory_bytes
    granted = f"; the control group grants the time of {limit:g} CPUs" if limit else ""
    nodes = "other nodes cannot be seen from here; fill in how many a job may have"
    if seen.slurm_nodes:
        nodes = "of the SLURM job that this file was written in"
    ranks, alone = max(2, machine.cpus), machine.cpus < 2
    return [
        "# Points beyond these limits become unsupported, with the reason.",
        f"# {machine.cpus} CPUs on {machine.cores} cores may be used{granted}.",
        *(
            ["# There is one CPU: two ranks share it, and their times are those of ranks that wait for each other."]
            * alone
        ),
        "limits:",
        f"  nodes: {seen.slurm_nodes or 1}   # {nodes}",
        f"  ranks_per_node: {ranks}",
        "  oversubscribe: false   # this MPI polls while it waits: ranks that share a CPU would measure the scheduler"
        if polling and not alone
        else "  # oversubscribe: false   # without it, more ranks than CPUs run unbound",
        "  # message_bytes: 64Mi   # the largest message; without it, memory is the limit",
        f"  # memory_bytes: {memory}   # found ({_rounded(memory)}); used unless another is given"
        if memory
        else "  # memory_bytes: 16Gi   # of a node; could not be seen: fill it in",
    ]


def _backends(mpi: Installation) -> list[str]:
    allowed = choices(MpiBackend, "controls")
    controls = mpi.product.kind if mpi.product.kind in allowed else "none"
    return [
        f"# Whose control variables choose the library's algorithms: {' or '.join(allowed)} (none: its default only).",
        "backends:",
        f"  mpi: {{controls: {controls}}}",
    ]


def _environment(seen: Survey) -> list[str]:
    governor = seen.details.get("governor")
    told = f"the frequency governor is {one_line(governor)}" if governor else "the frequency governor cannot be seen"
    return [
        "# Set for every process that measures; nothing else is passed on but PATH, HOME, USER and the language.",
        "# A network, its interface or its transport cannot be seen from here: name what you want, for example",
        "#   OMPI_MCA_btl_tcp_if_include: eth0        UCX_NET_DEVICES: mlx5_0:1",
        f"# For steady times: {told}; ask for exclusive nodes; OMP_NUM_THREADS: 1 keeps codecs to one thread a rank.",
        "environment: {OMP_NUM_THREADS: 1}",
    ]


def _described(one: Installation) -> str:
    lacks = f", which lacks {' and '.join(one.lacks)}" if one.lacks else ""
    return f"{one.product} ({one.source}){lacks}"


def _rounded(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else format_size(size)


def _text(value: str) -> str:
    """A YAML scalar that is this text on one line, whatever it holds."""
    return json.dumps(one_line(value), ensure_ascii=False)
