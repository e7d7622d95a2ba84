"""The values that ranks send, bit for bit the core's (`native/src/measure/data.hpp`): from a file, or a pattern."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from collpress.runner.dtypes import Array, Dtype, narrowed, widened
from collpress.runner.exchange import Exchange
from collpress.runner.plan import FileData, PlanPoint
from collpress.runner.splitmix import GOLDEN, MASK, STREAM, mixed_all
from collpress.runner.verdict import PointError, Status

_FACTORS = np.array([1, -1, 1, -1, 2, 1, -1, 3], np.int32)


def pattern(rank: int, first: int, length: int) -> npt.NDArray[np.int32]:
    """Whole numbers from -128 to 127, well mixed over ranks and indices; their sums are exact in float32."""
    index = np.arange(first, first + length, dtype=np.uint64)
    x = (index ^ (index >> np.uint64(32))).astype(np.uint32) * np.uint32(0x9E3779B1)
    x += np.uint32(rank * 0x85EBCA77 & 0xFFFFFFFF)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    x = (x ^ (x >> np.uint32(12))) * np.uint32(0x297A2D39)
    return (x >> np.uint32(24)).astype(np.int32) - np.int32(128)


def divided(values: npt.NDArray[np.int32], dtype: Dtype, ranks: int) -> npt.NDArray[np.int32]:
    """A pattern; of narrow integers divided (towards 0) by what keeps sums over so many ranks within their type: beyond
    it, MPI leaves open what comes out."""
    if dtype.name not in {"int8", "int16"}:
        return values
    divisor = -(-128 * ranks // int(np.iinfo(dtype.stored).max))
    return np.where(values < 0, -(-values // divisor), values // divisor)


def factors(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Of a pattern, the numbers for products, which would leave every dtype otherwise: mostly 1 and -1."""
    return _FACTORS[(values + 128) % 8]


def noise(seed: int, part: int, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Numbers in [-1, 1) that depend on all bits of the arguments."""
    start = np.uint64((seed + part * STREAM) & MASK)
    x = mixed_all(start + (positions + np.uint64(1)) * np.uint64(GOLDEN))
    return (x >> np.uint64(32)).astype(np.uint32).view(np.int32).astype(np.float64) * 2.0**-31


class Layout:
    """Which values of a file the contributing ranks, 0, 1, ..., send.

    Rank r reads part r modulo `parts`, from the element on at which the ranks before it in the same part end; a field
    that is cut into slices is one part for all. Behind the end of a part its values go on as `wrap` says.
    """

    def __init__(self, data: FileData, exchange: Exchange) -> None:
        self._one_rank_a_part, self._wrap = data.parts is not None, data.wrap
        self.parts = data.parts or 1
        self.part_elements = data.elements // self.parts
        self._count, self._ranks = max(exchange.contributions()), exchange.contributors()

    def refusal(self) -> str | None:
        """Why the ranks cannot be served."""
        count, parts, has = self._count, self.parts, self.part_elements
        if count == 0:
            return None
        if self._wrap != "none":
            return None if has else "the dataset has no elements"
        if self._one_rank_a_part and self._ranks > parts:
            return f"the dataset has {parts} parts, one for each rank, too few for {self._ranks} ranks"
        if self._one_rank_a_part and count > has:
            return f"a part of the dataset has {has} elements, too few for a message of {count}"
        if has // count < -(-self._ranks // parts):
            return f"the dataset has {has} elements, too few for {self._ranks} ranks with {count} each"
        return None

    def distinct(self) -> int:
        """Different elements of the file that all ranks together send."""
        users = [self._ranks // self.parts + (part < self._ranks % self.parts) for part in range(self.parts)]
        return sum(min(n * self._count, self.part_elements) for n in users if n)

    def position(self, rank: int, index: int) -> int:
        """Where an element of a rank's message stands in its part, or how far behind its end."""
        return rank // self.parts * self._count + index

    def elements(self, rank: int, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Of the file."""
        length = np.uint64(self.part_elements)
        copy, offset = np.divmod(positions, length)
        if self._wrap == "mirror":
            offset = np.where(copy % np.uint64(2) == 1, length - np.uint64(1) - offset, offset)
        return np.uint64(rank % self.parts * self.part_elements) + offset


def unique_bytes(point: PlanPoint, exchange: Exchange) -> int | None:
    """Bytes, as elements of the point's dtype, that come from different elements of the file; None for the pattern."""
    if point.data is None:
        return None
    elements = min(Layout(point.data, exchange).distinct(), sum(exchange.contributions()))
    if point.data.unique_bytes is not None:
        elements = min(elements, point.data.unique_bytes // (2 if point.data.is_bfloat16 else point.dtype.bytes))
    return elements * point.dtype.bytes


class Values:
    """One point's data over all ranks: every rank can read every rank's contribution, which the oracle needs."""

    def __init__(self, point: PlanPoint, exchange: Exchange) -> None:
        """Raises PointError where the file cannot serve the exchange, or is shorter than the plan says."""
        self.dtype, self.exchange = point.dtype, exchange
        self._factors = point.op == "prod"
        self._data = point.data
        if point.data is None:
            return
        self._layout = Layout(point.data, exchange)
        self._stored = np.dtype(np.uint16) if point.data.is_bfloat16 else point.dtype.stored
        self._file = _mapped(point.data, self._stored)
        refusal = self._layout.refusal()
        if refusal:
            raise PointError(Status.UNSUPPORTED, refusal)

    def stored(self, rank: int, first: int, length: int) -> Array:
        """Elements of a rank's contribution, as they lie in its buffer; not to be written into."""
        if self._data is None:
            whole = pattern(rank, first, length)
            ranks = self.exchange.ranks
            return self.dtype.of(factors(whole) if self._factors else divided(whole, self.dtype, ranks))
        contributor = self.exchange.contributor(rank)
        position = self._layout.position(contributor, first)
        if position + length <= self._layout.part_elements:
            start = contributor % self._layout.parts * self._layout.part_elements + position
            return self._as_sent(self._file[start : start + length])
        positions = np.arange(position, position + length, dtype=np.uint64)
        values = self._as_sent(self._file[self._layout.elements(contributor, positions)])
        return self._perturbed(self._data, values, contributor, positions)

    def numbers(self, rank: int, first: int, length: int) -> Array:
        """The same, as numbers."""
        return self.dtype.numbers(self.stored(rank, first, length))

    def _as_sent(self, values: Array) -> Array:
        return widened(values) if self._stored != self.dtype.stored else values

    def _perturbed(self, data: FileData, values: Array, rank: int, positions: npt.NDArray[np.uint64]) -> Array:
        """From the second time on. Zeros, NaN and infinities stay what they are, and nothing becomes infinite."""
        if data.wrap != "perturb":
            return values
        factor = 1 + data.wrap_amplitude * noise(data.wrap_seed, rank % self._layout.parts, positions)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = self.dtype.numbers(values).astype(np.float64) * factor
            sent = self.dtype.of(numbers)
            if data.is_bfloat16:
                sent = widened(narrowed(sent))
        is_copy = positions >= np.uint64(self._layout.part_elements)
        return np.where(is_copy & np.isfinite(self.dtype.numbers(sent)), sent, values)


def _mapped(data: FileData, stored: np.dtype[np.generic]) -> Array:
    try:
        size = Path(data.path).stat().st_size
        file = np.memmap(data.path, stored, "r", shape=size // stored.itemsize) if size >= stored.itemsize else None
    except OSError as error:
        raise PointError(Status.FAILED, f"data file {data.path} cannot be opened: {error.strerror}") from None
    if size // stored.itemsize < data.elements:
        told = f"has {size} bytes, not the {data.elements} elements that the plan names"
        raise PointError(Status.FAILED, f"data file {data.path} {told}")
    return np.zeros(0, stored) if file is None else np.asarray(file)
