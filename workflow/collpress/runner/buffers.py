"""The memory of one rank's part in a call, and the state that it has before each iteration."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collpress.runner.dtypes import Array
from collpress.runner.plan import PlanPoint
from collpress.runner.values import Values

_CHUNK = 1 << 20


def aligned(size: int, alignment: int) -> npt.NDArray[np.uint8]:
    """`size` bytes whose address is a multiple of `alignment`, a power of two, and not of its double.

    Raises MemoryError.
    """
    memory = np.empty(size + 2 * alignment, np.uint8)
    start = (alignment - memory.ctypes.data) % (2 * alignment)
    return memory[start : start + size]


class CallBuffers:
    """What a rank contributes and what it receives.

    Attributes
    ----------
    contribution, recv : arrays of the point's stored dtype, empty where the rank has none of it. A contribution that
        lies in `recv` during the call is kept beside it, to be put there again.
    """

    def __init__(self, point: PlanPoint, values: Values, rank: int) -> None:
        """Raises MemoryError."""
        exchange, stored = values.exchange, point.dtype.stored
        count = exchange.contribution(rank)
        self.contribution: Array = aligned(count * stored.itemsize, point.alignment).view(stored)
        received = exchange.recv_elements(rank, point.in_place)
        self.recv: Array = aligned(received * stored.itemsize, point.alignment).view(stored)
        for first in range(0, count, _CHUNK):
            length = min(_CHUNK, count - first)
            self.contribution[first : first + length] = values.stored(rank, first, length)
        self._shared = exchange.in_recv(rank, point.in_place)
        self._overwritten = self._shared and point.in_place
        place = exchange.place(rank)
        self._own_part = self.recv[place : place + count] if self._shared else self.recv[:0]
        self._bytes = self.recv.view(np.uint8)

    @staticmethod
    def bytes_of_all(point: PlanPoint, values: Values) -> int:
        """Bytes that the buffers of all ranks take."""
        exchange = values.exchange
        received = (exchange.recv_elements(rank, point.in_place) for rank in range(exchange.ranks))
        return (sum(exchange.contributions()) + sum(received)) * point.dtype.bytes

    def prepare(self, poison: bool) -> None:
        """Before an iteration, outside of timed regions. `poison`: what the call does not write shows in a check."""
        if poison:
            self._bytes.fill(0xFF)  # NaN in every floating-point element, -1 in every integer
        if self._overwritten or (poison and self._shared):
            self._own_part[...] = self.contribution
