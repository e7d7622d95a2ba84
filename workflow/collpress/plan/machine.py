"""What of the machine decides which points fit on it and where ranks sit: processors, cores, memory."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path

from collpress.provenance.machine import allowed_cores, allowed_cpus, cpu_limit, stable


@dataclass(frozen=True)
class Machine:
    """One machine.

    Parameters
    ----------
    cpu_model : the processor's name.
    cpus : hardware threads that this process may use, at most what the control group grants time for.
    cores : cores that hold them.
    memory_bytes : physical memory, or the control group's limit if that is less; None where unknown.
    """

    cpu_model: str
    cpus: int
    cores: int
    memory_bytes: int | None

    def as_json(self) -> dict[str, str | int | None]:
        return asdict(self)


def this_machine(root: Path = Path("/")) -> Machine:
    """Observe the machine; `root` is where /proc and /sys lie."""
    proc, sys = root / "proc", root / "sys"
    hardware, limit = stable(proc, sys), cpu_limit(sys)
    cpus = min(allowed_cpus(), math.ceil(limit) if limit else allowed_cpus())
    memory = [m for m in (hardware["memory_bytes"], _group_memory(sys)) if m is not None]
    return Machine(str(hardware["cpu_model"]), cpus, min(allowed_cores(sys), cpus), min(memory, default=None))


def _group_memory(sys: Path) -> int | None:
    """Bytes that the control group allows; None without a limit."""
    try:
        text = (sys / "fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
