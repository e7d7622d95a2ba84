"""What an algorithm of ours sends to whom in one call: asked of the core, which runs all ranks in one process without
MPI, and judges the result."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError

_PATIENCE_S = 120


@dataclass(frozen=True)
class Message:
    """From one rank to another in one step of the algorithm; `reduced`: its receiver adds something up in that step."""

    step: int
    sender: int
    receiver: int
    bytes: int
    reduced: bool


@dataclass(frozen=True)
class Schedule:
    """One call. `fault` is the first thing that is wrong with it, else None; `element_bytes` is 4."""

    collective: str
    ranks: int
    count: int
    element_bytes: int
    fault: str | None
    messages: tuple[Message, ...]

    @property
    def steps(self) -> int:
        return len({message.step for message in self.messages})

    def sent_by(self, rank: int) -> int:
        """Bytes."""
        return sum(message.bytes for message in self.messages if message.sender == rank)


def ask_schedule(core: Path, plugin: Path, ranks: int, count: int, options: Sequence[str] = ()) -> Schedule:
    """The schedule of one call with `count` elements (of one rank's vector, or of a block).

    Raises
    ------
    CollpressError : there is no such call of the algorithm, or the core does not answer.
    """
    command = [str(core), "--schedule", str(plugin), "--ranks", str(ranks), "--count", str(count), *options]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=_PATIENCE_S)
    except OSError as error:
        raise CollpressError(f"the core cannot be started: {error}", where=str(core), fix="collpress build") from None
    except subprocess.TimeoutExpired:
        raise CollpressError(f"no schedule within {_PATIENCE_S} s", where=str(plugin), fix="ask for less") from None
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("collpress-core: ") or f"exit code {done.returncode}"
        raise CollpressError(said, where=str(plugin))
    return _schedule(json.loads(done.stdout))


def _schedule(answer: dict[str, Any]) -> Schedule:
    operations = answer["operations"]
    reducing = {(o["rank"], o["step"]) for o in operations if o["kind"] in ("reduce", "accumulate", "add")}
    messages = tuple(
        Message(o["step"], o["rank"], o["peer"], o["bytes"], (o["peer"], o["step"]) in reducing)
        for o in operations
        if o["kind"] == "send"
    )
    return Schedule(
        answer["collective"],
        answer["ranks"],
        answer["count"],
        answer["element_bytes"],
        answer["fault"],
        tuple(sorted(messages, key=lambda m: (m.step, m.sender, m.receiver))),
    )
