"""A campaign or platform that a verb is asked for and that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.cli import main


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two campaigns, one of them planned on one platform."""
    monkeypatch.chdir(tmp_path)
    for name in ("weather", "tuning"):
        path = Path(f"config/campaigns/{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("title: made up\n", encoding="utf-8")
    plan = Path("results/campaigns/weather/cluster/plan/points.json")
    plan.parent.mkdir(parents=True)
    plan.write_text("{}", encoding="utf-8")


@pytest.mark.usefixtures("checkout")
def test_an_unknown_campaign_is_answered_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "wether"]) == 2
    said = capsys.readouterr().err
    assert 'unknown campaign "wether"' in said
    assert "allowed: tuning, weather; planned so far: weather/cluster\n" in said
    assert 'did you mean "weather"?' in said


@pytest.mark.usefixtures("checkout")
def test_a_campaign_without_a_plan_is_answered_with_what_makes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "weather", "--platform", "local"]) == 2
    said = capsys.readouterr().err
    assert "results/campaigns/weather/local/plan/points.json: there is no plan yet" in said
    assert "planned so far: weather/cluster" in said
    assert "fix: collpress run weather --platform local" in said


def test_doctor_tells_an_unknown_platform_before_it_looks_at_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "nope"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "config/platforms/nope.yaml does not exist" in said.err
