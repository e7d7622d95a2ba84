"""Two hosts made of this machine: whether that is allowed here, and works."""

from __future__ import annotations

from collections.abc import Iterator

from collpress.doctor.result import Result, ok, problem
from collpress.errors import CollpressError
from collpress.execute.namespaces import host_pair
from collpress.spec.platform import Platform


def hosts(platform: Platform) -> Iterator[Result]:
    """Whether two hosts can be made of this machine; says nothing where the platform does not ask for them."""
    if platform.hosts is None:
        return
    check = "two hosts"
    try:
        with host_pair(platform.hosts.rate) as pair:
            names = " and ".join(pair.names)
    except CollpressError as error:
        yield problem(check, error.what, error.fix)
        return
    rate = "no limit" if platform.hosts.rate is None else f"{platform.hosts.rate / 1e6:.0f} Mbit/s"
    yield ok(check, f"made and removed: {names}, the link with {rate}")
