"""Two hosts made of this machine: network namespaces, a link between them, and Open MPI across it.

Each host has its own name and its own end of a veth pair; the processes of both share CPUs, memory and files. A rate
is kept by a token bucket in each direction. Nothing of the machine's own network is touched, and the link reaches
nothing else. A guard removes the names when this process is gone, however it went; they carry our process id, so that
what even a guard left is removed before the next run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from collpress.errors import CollpressError
from collpress.execute.processes import start_time
from collpress.provenance.namespaces import INTERFACE, namespaces_lack

NAMESPACES = Path("/run/netns")
_NAME = re.compile(r"collpress-(\d+)-[ab]")
_SUBNET, _ADDRESSES = "10.9.0.0/24", ("10.9.0.1", "10.9.0.2")
MTU = 9000
"""With 1500, headers would take 5 % of a rate; with the 65536 of a loopback, a packet would not fit into the bucket."""
_GUARD = 'read -r line; for name in "$@"; do ip netns delete "$name"; done'
"""What is read ends when this process does."""
_AS_HOST = 'hostname "$1" && shift && exec "$@"'
_AGENT = """#!/bin/sh
# In place of ssh: OPTIONS HOST COMMAND, the command being a line for a shell as it is for ssh.
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
# Open MPI writes the folder that it lies in as it is, whatever a shell makes of that.
folder={folder}
before='' after=$*
while [ "${{after#*"$folder"}}" != "$after" ]; do
    before=$before${{after%%"$folder"*}}{quoted}
    after=${{after#*"$folder"}}
done
exec {prefix} sh -c "$before$after"
"""


@dataclass(frozen=True)
class Pair:
    """Two hosts that are there: the names of their namespaces and themselves; `rate` of the link in bit/s, or None."""

    names: tuple[str, str]
    rate: int | None

    def prefix(self, host: int) -> list[str]:
        """What a command is preceded by to run on the host 0 or 1."""
        name = self.names[host]
        return ["nsenter", f"--net={NAMESPACES / name}", "unshare", "--uts", "sh", "-c", _AS_HOST, "sh", name]

    def mpiexec_options(self, ranks: int) -> list[str]:
        """For Open MPI's mpiexec on the first host: the same number of consecutive ranks on each, unbound."""
        each = ranks // len(self.names)
        hosts = ",".join(f"{address}:{each}" for address in _ADDRESSES)
        return ["--host", hosts, "--map-by", f"ppr:{each}:node", "--bind-to", "none"]

    def write_agent(self, folder: Path, mpiexec: Path) -> Path:
        """The program that this mpiexec starts its daemon on the second host with.

        Raises
        ------
        CollpressError : a path that Open MPI would take apart.
        """
        path = folder / "agent"
        if any(c in str(path) for c in " \t:,;\"'"):
            raise CollpressError(
                "Open MPI cannot start an agent in a folder of this name",
                where=str(folder),
                fix="set TMPDIR to another",
            )
        installed = shlex.quote(str(mpiexec.resolve().parent.parent))
        text = _AGENT.format(prefix=shlex.join(self.prefix(1)), folder=installed, quoted=shlex.quote(installed))
        path.write_text(text, encoding="utf-8")
        path.chmod(0o700)
        return path


@contextmanager
def host_pair(rate: int | None) -> Iterator[Pair]:
    """Make the hosts, and remove them afterwards, with those that dead runs left.

    Parameters
    ----------
    rate : bit/s in each direction; None: as fast as it goes.

    Raises
    ------
    CollpressError : something is missing for it, or the system refuses.
    """
    lack = namespaces_lack()
    if lack is not None:
        raise CollpressError(lack.partition(": ")[0], fix=lack.partition(": ")[2])
    _remove_left_over()
    pair = Pair((f"collpress-{os.getpid()}-a", f"collpress-{os.getpid()}-b"), rate)
    for name in pair.names:
        _remove(name)  # of a dead process that had our id
    guard = _guard(pair.names)
    try:
        for name in pair.names:
            _call("ip", "netns", "add", name)
        first, second = pair.names
        _call(
            "ip", "link", "add", INTERFACE, "netns", first, "type", "veth", "peer", "name", INTERFACE, "netns", second
        )
        for name, address in zip(pair.names, _ADDRESSES, strict=True):
            _raise_link(name, address, rate)
        yield pair
    finally:
        for name in pair.names:
            _remove(name)
        guard.kill()
        guard.communicate()


def _guard(names: tuple[str, str]) -> subprocess.Popen[bytes]:
    """In a session of its own, where what ends ours does not reach it."""
    return subprocess.Popen(
        ["sh", "-c", _GUARD, "sh", *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def burst(rate: int) -> int:
    """Bytes that may pass at once after a pause; less would lose rate, more would hide it from small messages.

    Found by pingpongs: at 2.5 Gbit/s 64 KiB gave 97.6 % of the rate, and twice as much 100.5 %.
    """
    return 64 << 10 if rate <= 1_000_000_000 else 128 << 10


def bucket(rate: int) -> tuple[str, ...]:
    """The token bucket of a rate, as `tc qdisc` takes it."""
    return ("tbf", "rate", f"{rate}bit", "burst", str(burst(rate)), "latency", "50ms")


def _raise_link(name: str, address: str, rate: int | None) -> None:
    _call("ip", "-n", name, "link", "set", "lo", "up")
    _call("ip", "-n", name, "address", "add", f"{address}/24", "dev", INTERFACE)
    _call("ip", "-n", name, "link", "set", INTERFACE, "mtu", str(MTU), "up")
    if rate is None:
        return
    # With other congestion controls a small bucket costs rate.
    route = ("route", "replace", _SUBNET, "dev", INTERFACE, "src", address, "congctl", "cubic")
    _call("ip", "-n", name, *route)
    _call("tc", "-n", name, "qdisc", "replace", "dev", INTERFACE, "root", *bucket(rate))


def _remove_left_over() -> None:
    for path in NAMESPACES.glob("collpress-*"):
        found = _NAME.fullmatch(path.name)
        if found and start_time(int(found[1])) is None:
            _remove(path.name)


def _remove(name: str) -> None:
    """Also takes the link away; a namespace that is not there is no mistake."""
    if (NAMESPACES / name).exists():
        subprocess.run(["ip", "netns", "delete", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _call(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = _last(done.stderr.splitlines())
        raise CollpressError(
            f"two hosts cannot be made of this machine: {said}",
            where=shlex.join(command),
            fix="see docs/platforms.md; without it: --platform local",
        )


def _last(lines: Sequence[str]) -> str:
    return lines[-1].strip() if lines else "it said nothing"
