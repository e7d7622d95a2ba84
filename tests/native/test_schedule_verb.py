"""`collpress schedule`: what an algorithm sends to whom, as a list or a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from native_core import Core

from collpress.cli import main
from collpress.execute.schedules import ask_schedule
from collpress.figures.stamped import read_stamp
from collpress.verbs import schedule as verb


@pytest.fixture
def built(core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform's build record that names this build's algorithms; where it lies is the working directory."""
    names = [("allreduce", "ring"), ("allreduce", "rabenseifner"), ("bcast", "chain"), ("barrier", "dissemination")]
    plugins = [
        {"kind": "algorithm", "collective": c, "name": n, "path": str(core.build / f"plugins/reference/{c}/{n}.so")}
        for c, n in names
    ]
    plugins.append({"kind": "algorithm", "collective": "allreduce", "name": "ring", "path": "no", "compresses": True})
    plugins.append({"kind": "codec", "name": "none", "path": "no"})
    record = tmp_path / "build.json"
    record.write_text(json.dumps({"schema": 1, "core": {"path": str(core.program)}, "plugins": plugins}))
    monkeypatch.setattr(verb, "build_record", lambda platform: record)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_ring_sends_a_block_to_its_neighbour_in_each_step(core: Core) -> None:
    plugin = core.build / "plugins/reference/allreduce/ring.so"
    found = ask_schedule(core.program, plugin, 3, 6)
    assert {(m.sender, m.receiver) for m in found.messages} == {(0, 1), (1, 2), (2, 0)}
    assert [m.reduced for m in found.messages] == [True] * 6 + [False] * 6
    assert (found.steps, found.fault, {found.sent_by(rank) for rank in range(3)}) == (4, None, {4 * 8})


def test_the_list_names_each_message_and_sums_them_up(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", "allreduce/rabenseifner", "--ranks", "4", "--count", "64"]) == 0
    title, head, first, *rest, totals = capsys.readouterr().out.splitlines()
    assert title == "reference:rabenseifner of allreduce, 4 ranks, 64 elements of 4 bytes"
    assert (head.split(), first.split()) == (["step", "from", "to", "bytes"], ["1", "0", "1", "128", "reduced"])
    assert len(rest) == 15
    assert totals.startswith("4 steps, 16 messages, the longest of 128 bytes; a rank sends at most 384 bytes")


def test_a_barrier_and_what_an_algorithm_takes_can_be_asked_for(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "barrier/dissemination", "--ranks", "5"]) == 0
    assert "3 steps, 15 messages" in capsys.readouterr().out
    assert main(["schedule", "bcast/chain", "--fanout", "3", "--segment", "2", "--count", "4", "--root", "1"]) == 0
    assert "messages, the longest of 8 bytes" in capsys.readouterr().out
    assert main(["schedule", "allreduce/ring", "--ranks", "1"]) == 0
    assert "no messages" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_a_picture_has_its_call_inside_and_the_same_bytes_each_time(built: Path, suffix: str) -> None:
    for name in ("a", "b"):
        assert main(["schedule", "allreduce/ring", "--draw", f"{name}.{suffix}"]) == 0
    assert (built / f"a.{suffix}").read_bytes() == (built / f"b.{suffix}").read_bytes()
    said = read_stamp(built / f"a.{suffix}")
    assert said["command"] == "collpress schedule allreduce/ring --ranks 4 --count 4"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["allreduce/rign"], 'did you mean "allreduce/ring"?'),
        (["allreduce/ring", "--ranks", "0"], "is not a whole number from 1"),
        (["allreduce/ring", "--root", "1"], "has no root"),
        (["allreduce/ring", "--draw", "ring.gif"], "is no picture"),
        (["allreduce/ring", "--ranks", "100", "--draw", "ring.svg"], "too many for a picture"),
    ],
)
def test_what_cannot_be_shown_is_told(
    built: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(["schedule", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert list(built.glob("ring.*")) == []
