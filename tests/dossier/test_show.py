"""`collpress show`: a point is found by a few digits, and everything that is known of it is told with file and line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from made_up_campaign import BATCH, begin, point, record, start, write_journal, write_json, write_plan

from collpress.cli import main
from collpress.dossier.dossier import dossier
from collpress.dossier.search import find_point
from collpress.dossier.text import lines
from collpress.errors import CollpressError

RING, TREE = point("abcd1", "1111a"), point("abcd2", "2222a")
CUT = point("ffff1", unsupported="this installation has no library:ring")
LOST = point("eeee1", failed="the dataset could not be had")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a checkout é"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def campaign(checkout: Path) -> Path:
    return write_plan(checkout, [RING, TREE, CUT, LOST])


def shown(digits: str) -> dict[str, Any]:
    return dossier(find_point(digits))


@pytest.mark.parametrize(("digits", "identity"), [("abcd1", RING), ("2222", TREE), ("FFFF", CUT), ("eeee10", LOST)])
def test_a_point_is_found_by_the_first_digits_of_its_id_or_key(
    digits: str, identity: dict[str, Any], campaign: Path
) -> None:
    assert find_point(digits).point["id"] == identity["id"]


def test_several_candidates_are_listed_and_none_is_taken(campaign: Path) -> None:
    with pytest.raises(CollpressError, match="2 points begin with") as caught:
        find_point("abcd")
    assert RING["id"] in caught.value.what
    assert TREE["id"] in caught.value.what


def test_the_same_point_of_two_platforms_is_told_apart_by_its_platform(campaign: Path, checkout: Path) -> None:
    write_plan(checkout, [RING], platform="other")
    with pytest.raises(CollpressError, match="quick/other") as caught:
        find_point("abcd1")
    assert "quick/local:abcd1" in caught.value.fix
    assert find_point("quick/other:abcd1").places.platform == "other"
    assert find_point("abcd1", platform="other").places.platform == "other"
    assert find_point("abcd1", "quick", "local").places.platform == "local"


def test_a_point_that_stands_in_two_experiments_is_one_point(campaign: Path, checkout: Path) -> None:
    write_plan(checkout, [RING, RING | {"experiment": "twin"}], platform="other")
    assert find_point("quick/other:abcd1").point["id"] == RING["id"]


@pytest.mark.parametrize("name", ["quick:abcd1", "a/b/c:abcd1", "quick/local:abcd1"])
def test_a_place_that_is_none_or_told_twice_is_refused(name: str, campaign: Path) -> None:
    with pytest.raises(CollpressError, match="names no point"):
        find_point(name, campaign="other" if name.startswith("quick/") else None)


@pytest.mark.parametrize("digits", ["abc", "", "xyz1", "a" * 33, "abcd-1"])
def test_what_cannot_begin_an_id_is_refused(digits: str, campaign: Path) -> None:
    with pytest.raises(CollpressError, match="cannot begin an id or a key"):
        find_point(digits)


def test_a_point_a_campaign_and_a_platform_that_are_not_there_are_told(campaign: Path) -> None:
    with pytest.raises(CollpressError, match='no id and no key begins with "9999"') as caught:
        find_point("9999")
    assert "the 4 points of quick/local" in caught.value.where
    with pytest.raises(CollpressError, match='no campaign "quik" has a plan') as caught:
        find_point("abcd1", campaign="quik")
    assert caught.value.fix == 'did you mean "quick"?'
    with pytest.raises(CollpressError, match="cannot name a platform"):
        find_point("abcd1", platform="../x")


def test_before_the_first_plan_there_is_a_message(checkout: Path) -> None:
    with pytest.raises(CollpressError, match="there is no plan yet"):
        find_point("abcd")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', '{"schema": 1}'])
def test_a_damaged_plan_is_a_message(text: str, campaign: Path) -> None:
    (campaign / "plan" / "points.json").write_text(text, encoding="utf-8")
    with pytest.raises(CollpressError, match=r"points\.json"):
        find_point("abcd1")


def test_every_record_of_every_attempt_is_told_with_file_and_line(campaign: Path) -> None:
    first = write_journal(campaign, [start(0, 1, [RING["key"]]), begin(RING, 0), record(RING, 0, status="crashed")])
    write_journal(campaign, [start(0, 2, [RING["key"]]), begin(RING, 0, 2), record(RING, 0, 2), record(TREE, 0, 2),
                             begin(RING, 1, 2), record(RING, 1, 2)], attempt=2)  # fmt: skip
    seen = shown("abcd1")
    assert (seen["status"], seen["launches_ok"], seen["reason"]) == ("ok", 2, None)
    assert seen["launch_medians_s"] == [1e-6, 2e-6]
    assert seen["median_s"] == pytest.approx(1.5e-6)
    told = [(r["launch"], r["attempt"], r["status"], Path(r["where"]).name) for r in seen["records"]]
    assert told == [
        (0, 1, "crashed", "journal-1.jsonl:3"),
        (0, 2, "ok", "journal-2.jsonl:3"),
        (1, 2, "ok", "journal-2.jsonl:6"),
    ]
    for row in seen["records"]:
        path, _, number = row["where"].rpartition(":")
        line = json.loads(Path(path).read_text(encoding="utf-8").splitlines()[int(number) - 1])
        assert row == {"where": row["where"], **line}
    assert [(s["launch"], s["attempt"]) for s in seen["starts_of_the_core"]] == [(0, 1), (0, 2)]
    assert first.as_posix().endswith(seen["files"]["journal_lines"][0].rpartition(":")[0])
    assert seen["begun_without_record"] == []


def test_records_of_the_same_point_under_another_key_do_not_count_but_are_told(campaign: Path) -> None:
    old = {**RING, "key": "3333a".ljust(32, "0")}
    write_journal(campaign, [record(old, 0), record(RING, 0)])
    seen = shown("abcd1")
    assert (seen["status"], seen["launches_ok"]) == ("not_run", 1)
    assert [r["key"] for r in seen["superseded_records"]] == [old["key"]]
    assert [r["key"] for r in seen["records"]] == [RING["key"]]


def test_a_record_of_another_point_that_only_mentions_this_one_does_not_count(campaign: Path) -> None:
    write_journal(campaign, [record(TREE, 0, status="failed", reason=f"after {RING['id']}")])
    assert shown("abcd1")["records"] == []


def test_a_point_that_was_open_when_the_core_died_is_told(campaign: Path) -> None:
    write_journal(campaign, [start(0, 1, [RING["key"]]), begin(TREE, 0), record(TREE, 0), begin(RING, 0)])
    seen = shown("abcd1")
    assert [b["where"].rpartition(":")[2] for b in seen["begun_without_record"]] == ["4"]
    assert shown("abcd2")["begun_without_record"] == []


def test_a_damaged_line_that_names_the_point_is_told_and_others_do_not_disturb(campaign: Path) -> None:
    broken = f'{{"kind": "record", "id": "{RING["id"]}"}}\n'
    torn = json.dumps(record(RING, 1))[:50]
    write_journal(campaign, ["rubbish\n", broken, record(RING, 0), torn])
    seen = shown("abcd1")
    assert len(seen["damaged_lines"]) == 1
    assert "journal-1.jsonl:2: not a journal line" in seen["damaged_lines"][0]
    assert len(seen["records"]) == 1


@pytest.mark.parametrize(
    ("cut", "status", "reason"),
    [
        ("ffff", "unsupported", "this installation has no library:ring"),
        ("eeee", "failed", "the dataset could not be had"),
    ],
)
def test_a_point_that_never_ran_is_shown_with_its_reason_and_no_command(
    cut: str, status: str, reason: str, campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = shown(cut)
    assert (seen["status"], seen["reason"], seen["key"], seen["rerun"], seen["records"]) == (
        status,
        reason,
        None,
        None,
        [],
    )
    assert main(["show", cut]) == 0
    said = capsys.readouterr().out
    assert f"it cannot be measured alone: {reason}" in said
    assert main(["rerun", cut]) == 2
    assert reason in capsys.readouterr().err


def test_a_planned_point_without_any_journal_never_started(campaign: Path) -> None:
    seen = shown("abcd1")
    assert (seen["status"], seen["reason"], seen["median_s"]) == ("not_run", "never started", None)


def test_files_are_named_only_where_they_are(campaign: Path, checkout: Path) -> None:
    write_journal(campaign, [record(RING, 0)])
    own = campaign / "batches" / BATCH
    write_json(own / "provenance-1.json", {})
    (own / "samples-1-0.bin").write_bytes(b"")
    files = shown("abcd1")["files"]
    place = f"results/campaigns/quick/local/batches/{BATCH}"
    assert files["provenance"] == [f"{place}/provenance-1.json"]
    assert [(s["file"], s["is_there"]) for s in files["samples"]] == [(f"{place}/samples-1-0.bin", True)]
    assert (files["receipt"], files["cube"], files["core_logs"], files["reruns"]) == (None, None, [], [])


def test_build_plugins_and_dataset_are_those_that_the_point_uses(checkout: Path) -> None:
    write_plan(checkout, [point("abcd1", "1111a", factors={**RING["factors"], "dataset": "colpex/theta"})])
    plugins = [{"name": name, "path": f"{name}.so", "source": f"{name}.cpp"} for name in ("ring", "tree")]
    core = {"path": "core", "sha256": "0" * 64}
    write_json(
        checkout / "results/native/local/build.json", {"core": core, "compiler": {}, "mpi": {}, "plugins": plugins}
    )
    write_json(checkout / "results/data/colpex/theta.json", {"id": "colpex/theta", "sha256": "1" * 64})
    seen = shown("abcd1")
    assert [plugin["source"] for plugin in seen["build"]["plugins"]] == ["ring.cpp"]
    assert seen["dataset"]["sha256"] == "1" * 64


def test_the_command_names_the_point_whole_and_its_campaign_and_platform(campaign: Path) -> None:
    words = shlex.split(shown("abcd1")["rerun"])
    assert words == ["./run", "collpress", "rerun", f"quick/local:{RING['id']}"]


def test_what_a_record_holds_is_told_whatever_it_is_called(campaign: Path) -> None:
    write_journal(campaign, [record(RING, 0, phases_s=None)])
    seen = shown("abcd1")
    seen["records"][0]["of_tomorrow"] = {"psnr": {"bound": 0.25, "note": None}, "list": [{"deep": 1.0}]}
    text = "\n".join(lines(seen))
    for word in ("of_tomorrow", "bound 0.25", "deep", "journal-1.jsonl:1", "known_by read back", "median 1e-06"):
        assert word in text, text
    assert "phases_s" not in text


def test_the_verb_prints_json_that_says_the_same(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_journal(campaign, [record(RING, 0, status="invalid")])
    assert main(["show", "abcd1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["reason"]) == ("invalid", "it invalid")
    assert main(["show", "abcd1"]) == 0
    assert "status    invalid: 0 of 2 launches ok" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["{", "[]", '{"schema": 1, "launches": 2, "points": [3]}', '{"schema": 2}'])
def test_a_damaged_plan_elsewhere_is_left_out_with_a_warning(
    damage: str, campaign: Path, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (write_plan(checkout, [RING], campaign="broken") / "plan" / "points.json").write_text(damage, encoding="utf-8")
    write_plan(checkout, [RING], campaign="Not A Name")
    assert find_point("abcd1").places.campaign == "quick"
    warned = capsys.readouterr().err
    assert "broken" in warned
    assert "Not A Name" in warned
    with pytest.raises(CollpressError):
        find_point("abcd1", campaign="broken")


@pytest.mark.parametrize("damage", [b"{", b"[]", b"3", b"\xff", b"[" * 100_000], ids=range(5))
@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("native/local/build.json", "build"),
        ("data/colpex/theta.json", "dataset"),
        (f"campaigns/quick/local/plan/batches/{BATCH}.json", "plan_line"),
    ],
)
def test_a_damaged_file_is_told_with_its_path_and_the_rest_is_shown(
    damage: bytes, path: str, part: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plan(checkout, [point("abcd1", "1111a", factors={**RING["factors"], "dataset": "colpex/theta"})])
    write_json(checkout / "results/native/local/build.json", {"core": {"path": "core"}, "plugins": []})
    write_json(checkout / "results/data/colpex/theta.json", {"id": "colpex/theta"})
    assert shown("abcd1")["unreadable"] == []
    (checkout / "results" / path).write_bytes(damage)
    seen = shown("abcd1")
    assert [told.partition(": ")[0] for told in seen["unreadable"]] == [f"results/{path}"]
    assert [name for name in ("build", "dataset", "plan_line") if seen[name] is None] == [part]
    assert main(["show", "abcd1"]) == 0
    assert f"cannot be read: results/{path}: " in capsys.readouterr().out


def test_a_damaged_record_of_the_campaigns_own_plugins_is_told_too(campaign: Path) -> None:
    (campaign / "plugins").mkdir()
    (campaign / "plugins" / "build.json").write_text("{", encoding="utf-8")
    assert [told.partition(": ")[0] for told in shown("abcd1")["unreadable"]] == [
        "results/campaigns/quick/local/plugins/build.json"
    ]


@pytest.mark.parametrize("damage", ["{", "[]", '{"points": 3}', '{"points": [3, {"id": 1}]}', '{"points": [{}]}'])
def test_a_damaged_batch_index_leaves_the_plan_line_out(damage: str, campaign: Path) -> None:
    (campaign / "plan" / "batches" / f"{BATCH}.json").write_text(damage, encoding="utf-8")
    assert shown("abcd1")["plan_line"] is None


def test_control_characters_do_not_reach_the_terminal(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_journal(campaign, [record(RING, 0, status="crashed", reason="\x1b[2Jgone")])
    assert main(["show", "abcd1"]) == 0
    said = capsys.readouterr().out
    assert "[2Jgone" in said
    assert "\x1b" not in said
