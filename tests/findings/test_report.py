"""findings.json and findings.md: the same findings, traceable, equal each time; and how a run ends with them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from synthetic_campaign import Campaign, failing, quick, small

from collpress.cli import main
from collpress.cube.build import build_cube
from collpress.cube.file import open_cube
from collpress.errors import CollpressError
from collpress.findings.report import findings, headlines, page, write_findings
from collpress.findings.rules import RULES

WHERE = ["synthetic", "--platform", "fabricated"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = quick().write(tmp_path_factory.mktemp("results é"))
    build_cube(directory, root=directory)
    return directory


def written(folder: Path, target: Path) -> tuple[dict[str, Any], str]:
    write_findings(folder / "cube.nc", target / "findings.json", target / "findings.md")
    text = (target / "findings.json").read_text(encoding="utf-8")
    return json.loads(text), (target / "findings.md").read_text(encoding="utf-8")


def test_the_same_cube_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert written(folder, tmp_path / "a") == written(folder, tmp_path / "b")


def test_data_and_page_hold_the_same_findings_in_the_same_order(folder: Path, tmp_path: Path) -> None:
    data, text = written(folder, tmp_path)
    lines = [line[2:] for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(data["findings"]) > 20
    for finding, line in zip(data["findings"], lines, strict=True):
        assert line.startswith(finding["text"])


def test_every_finding_has_the_fields_of_the_contract(folder: Path, tmp_path: Path) -> None:
    data, _ = written(folder, tmp_path)
    assert list(data) == [
        "schema", "campaign", "platform", "launches", "cube", "command", "headlines", "findings"
    ]  # fmt: skip
    assert data["cube"]["sha256"] == hashlib.sha256((folder / "cube.nc").read_bytes()).hexdigest()
    assert data["command"] == "./run collpress findings synthetic --platform fabricated"
    for finding in data["findings"]:
        assert list(finding) == [
            "rule", "verdict", "text", "value", "unit", "low", "high", "confidence", "choices", "points"
        ]  # fmt: skip


def test_every_line_with_points_leads_to_points_of_the_plan(folder: Path, tmp_path: Path) -> None:
    data, text = written(folder, tmp_path)
    plan = json.loads((folder / "plan/points.json").read_text(encoding="utf-8"))["points"]
    known = {p["id"]: p for p in plan}
    for finding in data["findings"]:
        for point in finding["points"]:
            planned = known[point["id"]]
            assert point == {n: planned[n] for n in ("experiment", "id", "key", "factors")}
    shown = [line for line in text.splitlines() if line.startswith("- ") and "[show " in line]
    assert len(shown) == sum(bool(f["points"]) for f in data["findings"])
    for line in shown:
        ids = re.findall(r"[0-9a-f]{8,32}", line[line.rindex("[show ") :].partition(";")[0])
        assert ids
        assert all(sum(i.startswith(prefix) for i in known) == 1 for prefix in ids)


def test_ids_that_begin_alike_are_shown_with_more_digits(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    for n in range(2):
        campaign.add("e", message_bytes=8 << n, outcome=failing("crashed", f"reason {n}"))
    for n, point in enumerate(campaign.points):
        point["id"] = f"0123456789{n}" + "0" * 21
    _, text = written_of(campaign, tmp_path)
    assert "[show 01234567890]" in text
    assert "[show 01234567891]" in text


def written_of(campaign: Campaign, root: Path) -> tuple[dict[str, Any], str]:
    directory = campaign.write(root)
    build_cube(directory, root=directory)
    return written(directory, directory)


def test_a_changed_record_changes_the_findings(folder: Path, tmp_path: Path) -> None:
    campaign = quick()
    slowest = [r for r in campaign.records if r["requested"]["algorithm"] == "library:default"][:5]
    for record in slowest:
        record["time_s"] = {name: 100 * value for name, value in record["time_s"].items()}
    assert written_of(campaign, tmp_path)[0]["findings"] != written(folder, tmp_path / "as it was")[0]["findings"]


def test_the_headlines_sum_up_their_rules(folder: Path) -> None:
    told = findings(open_cube(folder / "cube.nc"))
    assert [f.rule for f in headlines(told)] == [
        "best_over_default", "codec_over_default", "codec_over_none", "error_over_bound"
    ]  # fmt: skip
    assert len(told) == len(RULES)


@pytest.mark.parametrize(
    ("loads", "told", "warned"),
    [
        ([0.4], "Load 0.4 on 2 CPUs when launches began", False),
        ([4.3, 6.3], "Load 4.3 to 6.3 on 2 CPUs when launches began", True),
        ([None], None, False),
    ],
)
def test_the_page_tells_how_busy_the_machine_was_and_how_to_show_a_point(
    tmp_path: Path, loads: list[float | None], told: str | None, warned: bool
) -> None:
    cube = busy(tmp_path, loads)
    content = {"campaign": "c", "platform": "p", "launches": 2, "cube": {"sha256": "0"}, "command": "./run"}
    text = page(cube, content, [])
    assert told in text if told else "Load" not in text
    assert ("more wanted to run than there are CPUs" in text) is warned
    assert "`./run collpress show c/p:ID`" in text


def busy(root: Path, loads: list[float | None]) -> xr.DataTree:
    """The cube of launches that each saw one of `loads`, on made-up hardware of two CPUs."""
    campaign = Campaign(launches=len(loads))
    campaign.add("e")
    directory = campaign.write(root)
    journal = next(directory.glob("batches/*/journal-1.jsonl"))
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["kind"] == "launch":
            line["load_average"] = loads[line["launch"]]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    machine = {"host": "node-a", "git": None, "machine": {"cpus": 2, "cpu_model": "made up"}}
    (journal.parent / "provenance.json").write_text(json.dumps(machine), encoding="utf-8")
    build_cube(directory, root=directory)
    return open_cube(directory / "cube.nc")


def test_one_launch_is_said_to_show_no_difference(tmp_path: Path) -> None:
    campaign = Campaign(launches=1)
    campaign.add("e")
    directory = campaign.write(tmp_path)
    build_cube(directory, root=directory)
    cube = open_cube(directory / "cube.nc")
    content = write_findings(directory / "cube.nc", tmp_path / "f.json", tmp_path / "f.md")
    assert "One launch has no confidence" in page(cube, content, findings(cube))


def test_the_verb_writes_both_files_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small().write(tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    assert main(["cube", *WHERE]) == 0
    capsys.readouterr()
    assert main(["findings", *WHERE]) == 0
    said = capsys.readouterr().out.split()
    assert [Path(name).name for name in said] == ["findings.json", "findings.md"]
    assert all((tmp_path / name).is_file() for name in said)
    assert main(["findings", *WHERE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / said[0]).read_text(encoding="utf-8"))


def test_without_a_cube_the_verb_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["findings", "nobody"]) == 2
    assert "there is no cube" in capsys.readouterr().err


def test_a_cube_of_an_older_version_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    cube = open_cube(folder / "cube.nc")
    for child in cube.children.values():
        child.dataset = child.to_dataset().drop_vars("point")
    cube.to_netcdf(tmp_path / "old.nc")
    with pytest.raises(CollpressError, match=r"old\.nc: .*the variable point is missing"):
        write_findings(tmp_path / "old.nc", tmp_path / "f.json", tmp_path / "f.md")
    assert not (tmp_path / "f.json").exists()


def test_complete_fails_while_a_point_is_not_ok_and_writes_its_summary_when_all_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "results/campaigns/synthetic/fabricated/summary.json"
    monkeypatch.chdir(tmp_path)
    assert ended(tmp_path, failing("crashed", "killed by SIGSEGV")) == 3
    said = capsys.readouterr()
    assert "2 points planned, 1 ok" in said.out
    assert "1 crashed: killed by SIGSEGV" in said.out
    assert "the library's choice and another algorithm are nowhere both ok" in said.out
    assert "all findings: results/campaigns/synthetic/fabricated/findings.md" in said.out
    assert "1 of 2 points should be ok and are not" in said.err
    assert not summary.exists()
    assert ended(tmp_path, lambda launch: {}) == 0
    document = json.loads(summary.read_text(encoding="utf-8"))
    assert document["counts"]["ok"] == 2
    best = document["findings"][0]
    assert list(best) == ["name", "value", "text", "keys"]
    assert best["name"] == "best_over_default"
    assert len(best["keys"]) == 2


def ended(root: Path, outcome: Any) -> int:
    """The exit code of `complete` after a campaign of two points, one of which ended with `outcome`."""
    campaign = Campaign(launches=1)
    campaign.add("e")
    campaign.add("e", algorithm="library:ring", outcome=outcome)
    campaign.write(root / "results")
    for verb in ("cube", "findings"):
        assert main([verb, *WHERE]) == 0
    return main(["complete", *WHERE])


def test_complete_refuses_findings_of_another_cube(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ended(tmp_path, lambda launch: {}) == 0
    with (tmp_path / "results/campaigns/synthetic/fabricated/cube.nc").open("ab") as file:
        file.write(b"more")
    assert main(["complete", *WHERE]) == 2
    assert "these findings are not those of the cube" in capsys.readouterr().err
    (tmp_path / "results/campaigns/synthetic/fabricated/findings.json").unlink()
    assert main(["complete", *WHERE]) == 2
    assert "collpress findings synthetic --platform fabricated" in capsys.readouterr().err
