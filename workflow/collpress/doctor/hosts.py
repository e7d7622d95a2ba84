"""Two hosts made of this machine, or a throttled loopback: whether that is allowed here, and works."""

from __future__ import annotations

from collections.abc import Iterator

from collpress.doctor.result import Result, ok, problem
from collpress.errors import CollpressError
from collpress.execute.hosts import made_hosts
from collpress.provenance.namespaces import MEDIA
from collpress.spec.platform import Platform


def hosts(platform: Platform) -> Iterator[Result]:
    """Whether what a platform asks for can be made of this machine; says nothing where it asks for nothing."""
    if platform.hosts is None:
        return
    kind = platform.hosts.kind
    check = {"namespaces": "two hosts", "loopback": "throttled loopback"}[kind]
    try:
        with made_hosts(kind, platform.hosts.rate) as made:
            names = " and ".join(made.names)
    except CollpressError as error:
        yield problem(check, error.what, error.fix)
        return
    rate = "no limit" if platform.hosts.rate is None else f"{platform.hosts.rate / 1e6:.0f} Mbit/s"
    what = "the link with" if kind == "namespaces" else f"{MEDIA[kind]},"
    yield ok(check, f"made and removed: {names}, {what} {rate}")
