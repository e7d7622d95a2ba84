"""Every point of a real run can be shown, and the command that is printed really measures it alone."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

from checkout import Checkout


def verb(checkout: Checkout, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "collpress", *words],
        cwd=checkout.root,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def show(checkout: Checkout, digits: str) -> dict[str, Any]:
    done = verb(checkout, "show", f"mini/local:{digits}", "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_every_point_can_be_shown_by_its_id_and_by_its_key(copy_checkout: Checkout) -> None:
    for point in copy_checkout.points():
        seen = show(copy_checkout, point["id"])
        assert (seen["id"], seen["status"], len(seen["records"])) == (point["id"], "ok", 2)
        assert show(copy_checkout, point["key"][:12]) == seen
        assert seen["build"]["core"]["sha256"]
        if point["factors"]["dataset"] != "pattern":
            assert seen["dataset"]["id"] == point["factors"]["dataset"]
            assert {plugin["kind"] for plugin in seen["build"]["plugins"]} == {"algorithm", "codec"}


def test_the_command_that_is_shown_measures_the_point_alone_and_leaves_the_campaign_as_it_is(
    copy_checkout: Checkout,
) -> None:
    point = next(p for p in copy_checkout.points() if p["factors"]["codec"] == "deltapack")
    before, cube = copy_checkout.records(), (copy_checkout.results() / "cube.nc").read_bytes()
    words = shlex.split(show(copy_checkout, point["id"])["rerun"])
    assert words[:2] == ["./run", "collpress"]
    done = verb(copy_checkout, *words[2:], "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["key"], document["differences"]) == (point["key"], [])
    assert [len(document[side]["launch_medians_s"]) for side in ("recorded", "rerun")] == [2, 2]
    assert document["ratio"]["value"] > 0
    assert copy_checkout.records() == before
    done = verb(copy_checkout, "cube", "mini", "--platform", "local")
    assert done.returncode == 0, done.stderr
    assert (copy_checkout.results() / "cube.nc").read_bytes() == cube
    assert len(show(copy_checkout, point["id"])["files"]["reruns"]) == 1
