"""A rerun measures one point alone, beside the campaign's records and never into them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from stand_in_campaign import StandIn, key

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.execute.lock import run_lock
from collpress.execute.rerun import rerun
from collpress.layout import Places

PLACES = Places("made-up", "here")


def frozen(stand_in: StandIn, *algorithms: str, **other: Any) -> None:
    """A plan with an inventory that knows core and plugins as they are."""
    stand_in.plan(*algorithms, **other)
    core = {"path": str(stand_in.batch().core), "sha256": sha256(stand_in.batch().core)}
    build = json.loads((stand_in.root / "build.json").read_text(encoding="utf-8")) | {"core": core}
    (stand_in.root / "build.json").write_text(json.dumps(build), encoding="utf-8")
    inventory: dict[str, Any] = {"build": {"core": core}, "algorithms": [], "codecs": [], "datasets": []}
    inventory["machine"] = {"cpu_model": _cpu_model()}
    (stand_in.directory / "inventory.json").write_text(json.dumps(inventory), encoding="utf-8")


def _cpu_model() -> str:
    from collpress.plan.machine import this_machine

    return this_machine().cpu_model


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def planned(stand_in: StandIn, number: int) -> dict[str, Any]:
    plan = json.loads((stand_in.directory / "plan" / "points.json").read_text(encoding="utf-8"))
    point: dict[str, Any] = plan["points"][number]
    return point


def contents(folder: Path) -> dict[str, str]:
    return {str(path): sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def here(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.chdir(stand_in.root)
    return stand_in


def test_one_point_is_measured_in_fresh_launches_and_the_campaign_is_not_touched(here: StandIn) -> None:
    frozen(here, "ok", "ok2", launches=2)
    here.sweep()
    before = contents(here.directory)
    made = rerun(PLACES, planned(here, 1))
    assert contents(here.directory) == before
    assert made.directory == Path("results/reruns") / key(1) / "1"
    assert set(made.swept.journals.records) == {(key(1), 0), (key(1), 1)}
    assert made.differences == []


def test_each_rerun_has_a_folder_of_its_own_and_as_many_launches_as_are_asked_for(here: StandIn) -> None:
    frozen(here, "ok")
    point = planned(here, 0)
    first, second = rerun(PLACES, point), rerun(PLACES, point, launches=3)
    assert (first.directory.name, second.directory.name) == ("1", "2")
    assert len(list(first.directory.glob("batches/*/journal-*.jsonl"))) == 1
    assert set(second.swept.journals.records) == {(key(0), launch) for launch in range(3)}


def test_a_point_that_cannot_run_is_refused_with_the_plans_reason(here: StandIn) -> None:
    frozen(here, "ok")
    cut = {**planned(here, 0), "key": None, "batch": None, "unsupported": "needs 4 ranks"}
    with pytest.raises(CollpressError, match="needs 4 ranks"):
        rerun(PLACES, cut)
    assert not Path("results/reruns").exists()


def test_what_is_not_as_when_the_plan_was_frozen_is_told(here: StandIn) -> None:
    frozen(here, "ok")
    core = here.batch().core
    core.write_text(core.read_text(encoding="utf-8") + "\n# built anew\n", encoding="utf-8")
    assert rerun(PLACES, planned(here, 0)).differences == [
        f"{core} is not the file that {here.root / 'build.json'} describes"
    ]
    build = json.loads((here.root / "build.json").read_text(encoding="utf-8"))
    build["core"]["sha256"] = sha256(core)
    (here.root / "build.json").write_text(json.dumps(build), encoding="utf-8")
    assert rerun(PLACES, planned(here, 0)).differences == ["the core was built anew since the plan was frozen"]


def test_the_verb_prints_both_medians_and_writes_them_down(here: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    frozen(here, "ok", launches=5)
    here.sweep()
    assert main(["rerun", key(0)]) == 0
    said = capsys.readouterr().out
    assert "recorded  ok, median 0.001 s over 5 launches" in said
    assert "rerun     ok, median 0.001 s over 5 launches" in said
    assert "rerun over recorded: 1 (1 .. 1, 95%): no difference shown" in said
    document = json.loads((Path("results/reruns") / key(0) / "1" / "rerun.json").read_text(encoding="utf-8"))
    assert document["recorded"]["launch_medians_s"] == document["rerun"]["launch_medians_s"] == [0.001] * 5
    assert [Path(path).is_file() for path in document["journals"]] == [True]
    assert main(["show", key(0), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"]["reruns"] == [f"results/reruns/{key(0)}/1/rerun.json"]


def test_a_point_that_crashes_again_is_told_as_crashed(here: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    frozen(here, "crash")
    assert main(["rerun", key(0)]) == 3
    said = capsys.readouterr().out
    assert "recorded  not_run, no time: never started" in said
    assert "rerun     crashed, no time: killed by SIGSEGV" in said
    assert "rerun over recorded" not in said


def test_a_rerun_does_not_share_the_machine_with_a_run(here: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    frozen(here, "ok")
    with run_lock(Path("results")):
        assert main(["rerun", key(0)]) == 2
    assert "a run is at work in this checkout already" in capsys.readouterr().err
    assert not Path("results/reruns").exists()


@pytest.mark.parametrize("launches", ["0", "-1"])
def test_fewer_than_one_launch_is_refused(launches: str, here: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    frozen(here, "ok")
    assert main(["rerun", key(0), "--launches", launches]) == 2
    assert "1 or more" in capsys.readouterr().err
