"""`collpress dataset get --dry-run` and `cite`: what would be fetched, and what must be said where it is used."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from handmade import World

from collpress.cli import main
from collpress.data.registry import load_registry

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ["--registry", str(ROOT / "config" / "datasets.yaml")]


@pytest.fixture
def say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the shipped registry makes `collpress dataset ...` print, with nothing fetched yet."""

    def said(*arguments: str) -> str:
        assert main(["dataset", *arguments, *SHIPPED, "--results", str(tmp_path / "results")]) == 0
        assert not (tmp_path / "results").exists(), "telling makes nothing"
        return capsys.readouterr().out

    return said


def test_a_dry_run_of_isabel_tells_addresses_sizes_checksums_and_disk(say: Any) -> None:
    told = say("get", "--dry-run", "isabel/*")
    assert len(re.findall(r"(?m)^isabel/[a-z0-9-]+: to be fetched", told)) == 20
    assert len(set(re.findall(r"(?m)^    https://huggingface.co/\S+/100x500x500/\S+\.f32$", told))) == 20
    assert len(set(re.findall(r"(?m)^  \S+\.f32  100000000 bytes  sha256 [0-9a-f]{64}$", told))) == 20
    assert told.count("SDRBENCH-Hurricane-ISABEL-100x500x500.tar.gz  1253837293 bytes  md5 8d53f6d") == 20
    assert "20 datasets: 2,000.0 MB to fetch, 4,000.0 MB of disk" in told


def test_it_tells_the_same_as_json(say: Any) -> None:
    told = json.loads(say("get", "--dry-run", "--json", "isabel/u", "isabel-series/v", "isabel-ncar/w"))
    assert told["bytes_to_fetch"] == 100_000_000 + 48 * 100_000_000 + 100_000_000
    assert told["disk_bytes"] == told["bytes_to_fetch"] + 100_000_000 + 100_000_000 + 4_800_000_000 + 100_000_000
    assert told["free_bytes"] > 0
    single, series, ncar = told["datasets"]
    assert single["files"][0]["sha256"] == single["sha256"]
    assert len(series["files"]) == 48
    assert (ncar["files"][0]["bytes"], ncar["files"][0]["sha256"], ncar["sha256"]) == (None, None, None)
    assert all(row["state"] == "fetch" for row in told["datasets"])


def test_a_file_that_datasets_share_counts_once(say: Any) -> None:
    assert "8 datasets: 3.0 MB to fetch" in say("get", "--dry-run", "katrina/*")
    assert "2 datasets: 29.4 MB to fetch, 36.3 MB of disk" in say("get", "--dry-run", "colpex/*")


def test_what_is_made_here_and_what_a_person_brings_is_told_as_such(say: Any) -> None:
    told = say("get", "--dry-run", "synthetic/normal", "ccbench/grad-4gb")
    assert "synthetic/normal: to be made here" in told
    assert "ccbench/grad-4gb: a person must bring its file" in told
    assert "the authors of CC-Bench have it" in told
    assert "2 datasets: 0.0 MB to fetch" in told


def test_what_is_there_already_needs_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    paths = ["--registry", str(world.registry), "--results", str(world.results)]
    world.carry()
    assert main(["dataset", "get", "--dry-run", "tiny/theta", *paths]) == 0
    assert "tiny/theta: fetched, to be prepared" in capsys.readouterr().out
    assert main(["dataset", "get", "tiny/theta", *paths]) == 0
    capsys.readouterr()
    assert main(["dataset", "get", "--dry-run", "tiny/theta", *paths]) == 0
    told = capsys.readouterr().out
    assert "tiny/theta: prepared" in told
    assert "0.0 MB to fetch, 0.0 MB of disk" in told


def test_get_with_a_pattern_prepares_what_it_can_and_names_the_rest(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.carry()
    paths = ["--registry", str(world.registry), "--results", str(world.results)]
    assert main(["dataset", "get", "tiny/*", "--json", *paths]) == 2
    told = capsys.readouterr()
    (made,) = json.loads(told.out)
    assert (made["id"], made["checksum"]) == ("tiny/theta", "pinned")
    assert "1 of 2 datasets could not be had" in told.err
    assert "tiny/normal" in told.err


@pytest.mark.parametrize("pattern", ["tinny/*", "tiny/x*"])
def test_a_pattern_that_matches_nothing_is_a_mistake(
    world: World, pattern: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dataset", "get", pattern, "--registry", str(world.registry)]) == 2
    assert f'no dataset matches "{pattern}"' in capsys.readouterr().err


def test_an_unknown_id_is_answered_with_the_nearest_few(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dataset", "info", "isabel/uu", *SHIPPED]) == 2
    said = capsys.readouterr().err
    assert 'unknown dataset "isabel/uu"' in said
    (allowed,) = [line for line in said.splitlines() if line.startswith("  allowed: ")]
    names, _, where = allowed.removeprefix("  allowed: ").partition("; ")
    assert "isabel/u" in names.split(", ")
    assert len(names.split(", ")) <= 6
    count = len(load_registry(ROOT / "config" / "datasets.yaml"))
    assert where == f"collpress dataset list shows all {count}"
    assert main(["dataset", "info", "qqqq", *SHIPPED]) == 2
    assert f"  allowed: collpress dataset list shows all {count}\n" in capsys.readouterr().err


def test_a_private_dataset_of_another_machine_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dataset", "get", "private-0123abcd", *SHIPPED]) == 2
    said = capsys.readouterr().err
    assert '"private-0123abcd" is a private dataset of another machine' in said
    assert "the sha256 of the values begins with 0123abcd" in said


def test_a_get_that_fails_leaves_no_folder_of_the_group(world: World) -> None:
    paths = ("--registry", str(world.registry), "--results", str(world.results))
    world.document["datasets"]["tiny/theta"]["sha256"] = "1" * 64
    world.rewrite()
    assert main(["dataset", "get", "tiny/theta", *paths]) == 2
    assert not (world.results / "data" / "tiny").exists()


def test_the_columns_of_the_list_stand_below_each_other(say: Any) -> None:
    rows = [line for line in say("list").splitlines() if line.startswith("  ")]
    assert any(" x 500 x 500 " in row for row in rows)
    columns = {re.search(r"  (prepared|to be \w+|fetch [0-9.,]+ MB)  ", row).start() for row in rows}  # type: ignore[union-attr]
    assert len(columns) == 1


def test_cite_prints_one_item_for_what_is_cited_alike(say: Any) -> None:
    told = say("cite", "isabel/*", "colpex/theta")
    assert told.count("@misc{") == 2
    assert "@misc{isabel,\n  note = {K. Zhao" in told
    assert "% say in the text: Hurricane Isabel data produced by the Weather Research and Forecast" in told
    assert "% licence: UK Open Government Licence" in told


def test_what_means_something_to_tex_is_escaped(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.document["datasets"]["tiny/theta"]["citation"] = "Me & You: 5 % of a_b"
    world.rewrite()
    assert main(["dataset", "cite", "tiny/theta", "--registry", str(world.registry)]) == 0
    assert r"note = {Me \& You: 5 \% of a\_b}," in capsys.readouterr().out


def test_datasets_that_are_cited_alike_share_an_item(say: Any) -> None:
    (row,) = json.loads(say("cite", "--json", "ccbench/*"))
    assert (row["key"], len(row["datasets"])) == ("ccbench", 6)


def test_two_items_never_share_a_key(say: Any) -> None:
    told = say("cite", "isabel/u", "isabel-ncar/u", "nyx/temperature", "hacc/xx", "synthetic/*", "katrina/u")
    keys = re.findall(r"@misc\{([a-z0-9-]+),", told)
    assert len(set(keys)) == len(keys) == 7


def test_a_campaigns_datasets_are_cited(
    say: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    told = json.loads(say("cite", "--campaign", "quick", "--json"))
    used = {dataset for row in told for dataset in row["datasets"]}
    assert "colpex/theta" in used
    assert main(["dataset", "cite", *SHIPPED]) == 2
    assert "nothing to cite" in capsys.readouterr().err


def test_info_tells_several(say: Any) -> None:
    told = say("info", "isabel-ncar/u")
    assert "recorded when it is prepared" in told
    assert "unpublished" in told


def test_verify_tells_each_dataset_as_json(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    paths = ["--registry", str(world.registry), "--results", str(world.results)]
    world.carry()
    assert main(["dataset", "get", "tiny/theta", *paths]) == 0
    capsys.readouterr()
    assert main(["dataset", "verify", "--json", "tiny/theta", "tiny/normal", *paths]) == 2
    right, wrong = json.loads(capsys.readouterr().out)
    assert right == {"id": "tiny/theta", "right": True, "checksum": "pinned", "reason": None}
    assert (wrong["id"], wrong["right"]) == ("tiny/normal", False)
    assert "not prepared" in wrong["reason"]
