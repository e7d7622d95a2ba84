"""What an algorithm leaves behind is told of its own point, and meets no message of another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_core import Core, Outcome, point

RANKS = 2
FAULTS = {
    "leaves_message": "the algorithm returns before 2 of its requests are completed, over all ranks",
    "leaves_receive": "the algorithm returns before 2 of its requests are completed, over all ranks",
    "leaves_message_late": "the algorithm leaves 1 messages that no rank receives",
}


@pytest.mark.parametrize("name", FAULTS)
def test_only_the_algorithm_that_leaves_something_fails(core: Core, user: Path, tmp_path: Path, name: str) -> None:
    """Whatever the order is; and each point says what its algorithm did."""
    faulty = {"algorithm": f"reference:{name}", "plugin": user / f"{name}.so"}
    bad = [point(**faulty, message_bytes=size) for size in (64, 256)]
    good = [core.reference(other, message_bytes=size) for other in ("ring", "linear") for size in (64, 256)]
    for seed in (1, 2, 3):
        outcome: Outcome = core.launch(tmp_path / str(seed), RANKS, [*good, *bad], seed=seed)
        assert outcome.code == 0, outcome.errors
        assert [outcome.record(entry)["reason"] for entry in good] == [None] * len(good)
        told = [(outcome.record(entry)["status"], outcome.record(entry)["reason"]) for entry in bad]
        assert ("failed", FAULTS[name]) in told
