"""Being asked to stop, or losing the parent: noticed at once, acted on where it is safe."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

from collpress.execute.lock import Holder

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interruption:
    """While this context lasts, SIGTERM, SIGINT and SIGHUP are noted in `requested` instead of killing us.

    `wakeup` becomes readable at each signal, the end of a child included, so that waiting on it wastes no time and no
    processor. A parent that is gone counts as SIGTERM, and so does a holder of the run's lock: nobody waits for the
    result any more.
    """

    def __init__(self, holder: Holder | None = None) -> None:
        self._requested: int | None = None
        self._parent = os.getppid()
        self._holder = holder if holder is not None and holder.alive() else None

    def __enter__(self) -> Self:
        self.wakeup, self._written = socket.socketpair()
        for end in (self.wakeup, self._written):
            end.setblocking(False)
        self._previous: dict[int, Any] = {number: signal.signal(number, self._note) for number in STOPS}
        self._previous[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        self._old_wakeup = signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self.wakeup.close()
        self._written.close()

    @property
    def requested(self) -> int | None:
        """The signal that asks us to stop, or None."""
        orphaned = os.getppid() != self._parent or (self._holder is not None and not self._holder.alive())
        if self._requested is None and orphaned:
            self._requested = signal.SIGTERM
        return self._requested

    def clear(self) -> None:
        """Empty `wakeup`."""
        with suppress(BlockingIOError):
            while self.wakeup.recv(4096):
                pass

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._requested = number
