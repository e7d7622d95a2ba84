"""One host with a throttled loopback of its own, made without root: where two hosts are not allowed.

A process in new user, network and host name namespaces holds them; ranks are started in them, and talk over its
loopback alone. One token bucket keeps the rate there, for all ranks and both directions together: a shared bus, of
which an exchange gets half. The holder ends with this process, and its namespaces with it and the ranks.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from collpress.errors import CollpressError
from collpress.execute.namespaces import MTU, bucket
from collpress.execute.processes import dies_with_parent
from collpress.provenance.namespaces import UNSHARE, loopback_lack

NAME = "collpress-loopback"
"""What the host is called there, and so in every journal: it is no host of a network."""
_READY = "ready"
_HOLD = (
    f'hostname {NAME} && ip link set lo mtu {MTU} up && tc qdisc replace dev lo root "$@" && echo {_READY} '
    "&& read -r line"
)


@dataclass(frozen=True)
class Loopback:
    """A host that is there: the process that holds its namespaces; `rate` of its loopback in bit/s."""

    holder: int
    rate: int

    @property
    def names(self) -> tuple[str]:
        return (NAME,)

    def prefix(self) -> list[str]:
        """What a command is preceded by to run there."""
        return ["nsenter", f"--target={self.holder}", "--user", "--net", "--uts", "--preserve-credentials"]


@contextmanager
def throttled_loopback(rate: int) -> Iterator[Loopback]:
    """Make the host, and let it end afterwards.

    Parameters
    ----------
    rate : bit/s of both directions together.

    Raises
    ------
    CollpressError : something is missing for it, or the system refuses.
    """
    lack = loopback_lack()
    if lack is not None:
        raise CollpressError(lack.partition(": ")[0], fix=lack.partition(": ")[2])
    holder = subprocess.Popen(
        [*UNSHARE, "sh", "-c", _HOLD, "sh", *bucket(rate)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=dies_with_parent(),
    )
    try:
        assert holder.stdout is not None
        if holder.stdout.readline().strip() != _READY:
            said = (holder.communicate()[1].strip().splitlines() or ["it said nothing"])[-1]
            raise CollpressError(
                f"this machine's loopback cannot be throttled: {said}",
                fix="see docs/platforms.md; without it: --platform local",
            )
        yield Loopback(holder.pid, rate)
    finally:
        holder.kill()
        holder.communicate()
