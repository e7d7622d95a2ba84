"""What a platform makes of this machine before ranks start: two hosts with a link, or a throttled loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from collpress.execute.loopback import Loopback, throttled_loopback
from collpress.execute.namespaces import Pair, host_pair

Made = Pair | Loopback


@contextmanager
def made_hosts(kind: str, rate: int | None) -> Iterator[Made]:
    """Make them, and leave nothing of them afterwards.

    Parameters
    ----------
    kind : `namespaces` or `loopback`; the latter needs a rate.
    rate : bit/s; of a link in each direction, of a loopback in both together.

    Raises
    ------
    CollpressError : something is missing for it, or the system refuses.
    """
    if kind == "loopback":
        assert rate is not None, "spec.platform refuses a loopback without a rate"
        with throttled_loopback(rate) as loopback:
            yield loopback
    else:
        with host_pair(rate) as pair:
            yield pair
