"""Where values begin to repeat themselves: exact for all, and no more reading where they are few or nearly periodic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collpress.data import repetition
from collpress.data.repetition import shortest_run

N = 10 * repetition._PIECE + 321
RANDOM = np.random.Generator(np.random.Philox(1))
BITS = RANDOM.integers(0, 2, N).astype(np.float32)


def unique_bytes(values: npt.NDArray[np.generic]) -> int:
    """Of an array, as a sidecar has it."""
    bits = values.reshape(-1).view(f"u{values.itemsize}")
    return shortest_run(lambda start, stop: bits[start:stop], bits.size) * values.itemsize


def test_copies_of_a_shorter_run_are_not_counted_as_unique() -> None:
    run = np.random.Generator(np.random.Philox(1)).normal(size=1000).astype(np.float32)
    assert unique_bytes(run) == 4000
    assert unique_bytes(np.tile(run, 7)) == 4000
    assert unique_bytes(np.tile(run, 7)[:5321].reshape(17, -1)) == 4000
    changed = np.tile(run, 7)
    changed[5000] += 1
    assert unique_bytes(changed) == changed.nbytes
    assert unique_bytes(np.zeros(100, dtype=np.float32)) == 4
    assert unique_bytes(np.full(100, np.nan, dtype=np.float32)) == 4


@given(run=st.lists(st.integers(0, 2), min_size=1, max_size=6), copies=st.integers(1, 5), cut=st.integers(0, 5))
def test_unique_bytes_is_the_shortest_period_that_fits_at_least_twice(run: list[int], copies: int, cut: int) -> None:
    values = np.array((run * copies)[: max(1, len(run) * copies - cut)], dtype=np.float32)
    assert unique_bytes(values) == 4 * by_definition(values)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetition, "_PIECE", 4)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", range(300))
def test_the_ends_of_pieces_make_no_difference(seed: int) -> None:
    random = np.random.Generator(np.random.Philox(seed))
    run = random.integers(0, 1 + seed % 3, random.integers(1, 30))
    values = np.tile(run, 5)[: random.integers(1, 80)].astype(np.uint16)
    if seed % 4 == 0:
        values[random.integers(values.size)] += 1
    assert unique_bytes(values) == 2 * by_definition(values)


def by_definition(values: npt.NDArray[np.generic]) -> int:
    n = values.size
    periods = [p for p in range(1, n // 2 + 1) if np.array_equal(values[p:], values[:-p])]
    return periods[0] if periods else n


def changed(values: npt.NDArray[np.float32], place: int) -> npt.NDArray[np.float32]:
    values = values.copy()
    values[place] += 1
    return values


HARD = {
    "few values": (BITS, N),
    "few values, tiled": (np.tile(BITS[: N // 3], 3), N // 3),
    "few values, tiled but for one": (changed(np.tile(BITS[: N // 3], 3), N // 2), 3 * (N // 3)),
    "two values in turn": (np.resize(np.float32([0, 1]), N), 2),
    "two values in turn but for the last": (changed(np.resize(np.float32([0, 1]), N), N - 1), N),
    "one value": (np.zeros(N, np.float32), 1),
    "one value but for the last": (changed(np.zeros(N, np.float32), N - 1), N),
    "one value but for the middle": (changed(np.zeros(N, np.float32), N // 2), N),
}


@pytest.mark.parametrize("name", HARD)
def test_the_cost_grows_with_the_number_of_values_only(name: str) -> None:
    """Counted is what is read: a comparison for each place where a common value returns would read N² / 4."""
    values, run = HARD[name]
    read = 0

    def window(start: int, stop: int) -> npt.NDArray[np.uint32]:
        nonlocal read
        read += stop - start
        return values.view(np.uint32)[start:stop]

    assert shortest_run(window, values.size) == run
    assert read <= 12 * values.size
