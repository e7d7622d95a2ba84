"""Where buffers lie, and the state that they have before an iteration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from native_core import plan_text, point

from collpress.runner.buffers import CallBuffers, aligned
from collpress.runner.plan import read_plan
from collpress.runner.values import Values


@pytest.mark.parametrize("size", [100, 1 << 20])
@pytest.mark.parametrize("alignment", [64, 4096, 65536])
def test_an_address_is_a_multiple_of_what_was_asked_for_and_of_no_more(size: int, alignment: int) -> None:
    buffer = aligned(size, alignment)
    assert buffer.nbytes == size
    assert buffer.__array_interface__["data"][0] % (2 * alignment) == alignment


def buffers(folder: Path, rank: int, ranks: int = 3, **changes: object) -> CallBuffers:
    plan = folder / "plan.tsv"
    plan.write_text(plan_text([point(message_bytes=16, **changes)]), encoding="utf-8")
    (asked,) = read_plan(str(plan))
    return CallBuffers(asked, Values(asked, asked.exchange(ranks)), rank)


def test_poison_is_nan_in_every_element_but_a_contribution_stays(tmp_path: Path) -> None:
    made = buffers(tmp_path, 1, collective="allgather", buffers="in-place")
    made.prepare(True)
    own = made.recv[4:8]
    np.testing.assert_array_equal(own, made.contribution)
    assert np.isnan(np.delete(made.recv, np.s_[4:8])).all()


def test_what_a_call_in_place_overwrote_is_put_back_each_time(tmp_path: Path) -> None:
    made = buffers(tmp_path, 0, collective="allreduce", buffers="in-place")
    made.prepare(False)
    made.recv[...] = 0
    made.prepare(False)
    np.testing.assert_array_equal(made.recv, made.contribution)


def test_a_result_apart_stays_as_it_is_without_poison(tmp_path: Path) -> None:
    made = buffers(tmp_path, 0, collective="allreduce")
    made.recv[...] = 5
    made.prepare(False)
    assert (made.recv == 5).all()
