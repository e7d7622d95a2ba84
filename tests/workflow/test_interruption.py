"""A run that is killed in the middle loses nothing and measures nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from checkout import Checkout

SLOW = """\
title: Long enough to be killed in the middle
experiments:
  plain:
    matrix:
      collective: allreduce
      algorithm: [library:default, reference:ring, reference:recursive_doubling]
      message_bytes: 1Ki .. 64Ki x2
      ranks: 2
measure: {launches: 3, precision: 0.01%, at_most: 300 ms}
figures: [coverage]
"""


def test_sigkill_of_the_whole_group_then_a_new_run_gives_every_launch_once(copy_checkout: Checkout) -> None:
    copy_checkout.campaign(SLOW, "slow")
    process = subprocess.Popen(
        copy_checkout.command("slow"),
        cwd=copy_checkout.root,
        env=copy_checkout.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_until(lambda: len(copy_checkout.records("slow")) >= 10, process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    time.sleep(1)
    killed_at = len(copy_checkout.records("slow"))
    time.sleep(1)
    assert _cores(copy_checkout) == [], "ranks survived their parent"
    assert len(copy_checkout.records("slow")) == killed_at, "somebody went on writing"

    done = copy_checkout.run("slow")
    assert done.returncode == 0, done.stdout + done.stderr
    points = copy_checkout.points("slow")
    assert killed_at < len(points) * 3, "killed too late to show anything"
    assert copy_checkout.measured("slow") == {(p["key"], launch): 1 for p in points for launch in range(3)}


def _wait_until(condition: object, process: subprocess.Popen[bytes]) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run measured nothing"
        time.sleep(0.05)


def _cores(checkout: Checkout) -> list[str]:
    """Command lines of the cores of this checkout that still run."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue  # it has just ended
        line = b" ".join(words).decode("utf-8", "replace")
        if "collpress-core" in line and str(checkout.root) in line:
            found.append(line)
    return found
