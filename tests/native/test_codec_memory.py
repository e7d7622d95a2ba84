"""Codecs with a memory in the core: each call begins where the one before ended, on all ranks alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_core import Core, Entry, Outcome

RANKS, COUNT = 3, 6000


class Remembering:
    """One launch on 3 ranks: the same contributions in every iteration."""

    def __init__(self, core: Core, folder: Path) -> None:
        values = np.random.default_rng(5).standard_normal((RANKS, COUNT)).astype("<f4")
        values.tofile(folder / "values.bin")
        file: dict[str, Any] = {"data": "file", "data_path": folder / "values.bin", "data_elements": RANKS * COUNT}
        metrics = core.build / "plugins/metrics"
        file |= {"message_bytes": 4 * COUNT, "metrics": metrics / "max_error.so"}
        file |= {"warmup": 5, "min_iterations": 40, "max_iterations": 40}
        sdp4bit, topk, sign = (core.build / f"plugins/codecs/{name}.so" for name in ("sdp4bit", "topk", "sign"))
        self.differences = core.compressed("weights", sdp4bit, codec_parameters="1 1 0 1", **file)
        self.gradients = core.compressed("gradients", sdp4bit, codec_parameters="0 1 0 1", **file)
        self.topk = core.compressed("topk", topk, codec_parameters="0.1 1", **file)
        self.forgetful_topk = core.compressed("forgetful topk", topk, codec_parameters="0.1 0", **file)
        self.sign = core.compressed("sign", sign, codec_parameters="32 1", **file)
        self.forgetful_sign = core.compressed("forgetful sign", sign, codec_parameters="32 0", **file)
        entries = [e for e in vars(self).values() if isinstance(e, dict)]
        self.outcome: Outcome = core.launch(folder, RANKS, entries)
        assert self.outcome.code == 0, self.outcome.errors

    def error(self, entry: Entry) -> tuple[float, float]:
        """Of the first call, or a worse last one, and of the last one alone: largest errors."""
        record = self.outcome.record(entry)
        last = record["fidelity"]["result"]["metrics"]["max_error"]["absolute"]
        return record["check"]["max_abs_error"], last


@pytest.fixture(scope="module")
def remembering(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Remembering:
    return Remembering(core, tmp_path_factory.mktemp("memory"))


def test_points_of_codecs_with_a_memory_are_checked_and_right(remembering: Remembering) -> None:
    for entry in (e for e in vars(remembering).values() if isinstance(e, dict)):
        record = remembering.outcome.record(entry)
        assert (record["status"], record["reason"]) == ("ok", None)
        assert record["check"]["bound"] >= record["check"]["max_abs_error"] > 0


def test_differences_of_weights_that_rest_vanish(remembering: Remembering) -> None:
    first, last = remembering.error(remembering.differences)
    assert last < 1e-3 * first
    first, last = remembering.error(remembering.gradients)
    assert last == first


def test_what_a_message_leaves_out_is_sent_in_a_later_one(remembering: Remembering) -> None:
    """Without feedback all calls are equal; with it the last one is not what a first one would be."""
    for entry, forgetful in (
        (remembering.topk, remembering.forgetful_topk),
        (remembering.sign, remembering.forgetful_sign),
    ):
        first, last = remembering.error(forgetful)
        assert last == first
        assert remembering.error(entry)[1] != first
