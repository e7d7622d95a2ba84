"""The frozen plan of a small house: a fake core that answers `--offers`, a dataset, five plugins."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from small_house import OFFERS, House

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.layout import ROOT
from collpress.plan.inventory import known_offer, take_inventory
from collpress.spec import load_campaign, load_platform
from collpress.wiring import Wiring


@pytest.mark.parametrize("called", ["lab/secret", "private-00000000"])
def test_nothing_that_is_made_knows_the_name_of_a_private_dataset(house: House, called: str) -> None:
    """A campaign may call it by its name, or by the public id, which it then can be published with."""
    registry = json.loads((house.root / "config/datasets.yaml").read_text(encoding="utf-8"))["datasets"]["made/field"]
    house.write("config/datasets.yaml", {"schema": 1, "datasets": {"lab/secret": registry | {"private": True}}})
    for suffix in ("bin", "json"):
        made = house.root / f"results/data/made/field.{suffix}"
        made.rename(house.root / f"results/data/private-00000000.{suffix}")
    path = house.root / "config/campaigns/mini.yaml"
    text = path.read_text(encoding="utf-8").replace("made/field", called)
    condition = f"""'codec == "none" and dataset == "{called}"'"""
    path.write_text(text.replace('codec == "none", because: not today', condition), encoding="utf-8")
    constraint = re.search(r'dataset="(.+)"', (ROOT / "workflow/Snakefile").read_text(encoding="utf-8"))
    assert constraint is not None
    assert re.fullmatch(constraint.group(1), "private-00000000"), "the rule that prepares it takes its name"
    assert Wiring("mini", "here").datasets() == ["results/data/private-00000000.json"]
    assert Wiring("mini", "here", "private-00000000").datasets() == []
    house.take()
    plan = house.read(house.places.points)
    assert {p["factors"]["dataset"] for p in plan["points"]} == {"pattern", "private-00000000"}
    assert plan["excluded"][0]["why"].endswith('dataset == "private-00000000"')
    found = [path for path in (house.root / "results").rglob("*") if path.is_file()]
    assert not [path for path in found if b"secret" in path.read_bytes() or "secret" in path.name]
    assert any(b"results/data/private-00000000.bin" in path.read_bytes() for path in found)


def test_the_plan_says_what_runs_what_is_cut_and_what_is_impossible(house: House) -> None:
    house.take()
    plan = house.read(house.places.points)
    assert (plan["schema"], plan["campaign"], plan["platform"], plan["launches"], plan["precision"]) == (
        1,
        "mini",
        "here",
        2,
        0.05,
    )
    assert len(plan["points"]) == 6
    [impossible] = [p for p in plan["points"] if p["unsupported"]]
    assert (impossible["key"], impossible["batch"]) == (None, None)
    assert (
        impossible["unsupported"]
        == "made/field has 100 elements; 2 ranks need 2048 (data are never repeated, unless wrap says how)"
    )
    [cut] = plan["excluded"]
    assert (cut["experiment"], cut["factors"]["codec"], cut["why"]) == ("packed", "none", "not today")


def test_a_batch_index_holds_all_that_a_job_needs(house: House) -> None:
    house.take()
    [row] = house.read(house.places.batches)["batches"]
    index = house.read(house.places.batch_index(row["batch"]))
    assert {k: row[k] for k in ("nodes", "ranks", "points", "digest")} == {
        "nodes": 1,
        "ranks": 2,
        "points": 5,
        "digest": index["digest"],
    }
    assert row["estimate_s"] >= 5
    assert row["minutes"] * 60 > row["estimate_s"]
    assert index["core"] == "results/native/here/collpress-core"
    assert index["environment"]["MINE"] == "1"
    assert (index["launches"], index["samples"], index["ranks_per_node"]) == (2, "all", 2)
    lines = {(p["experiment"], p["line"]["algorithm"], p["line"]["message_bytes"]): p["line"] for p in index["points"]}
    assert lines["packed", "compressed:ring", "64"] == {
        **{k: lines["packed", "compressed:ring", "64"][k] for k in ("key", "id")},
        "collective": "allreduce",
        "algorithm": "compressed:ring",
        "plugin": "results/native/here/plugins/ring.so",
        "codec": "zfp",
        "codec_plugin": "results/native/here/plugins/zfp.so",
        "bound": "rel",
        "bound_value": "1e-3",
        "dtype": "float32",
        "op": "sum",
        "message_bytes": "64",
        "data": "file",
        "data_path": "results/data/made/field.bin",
        "data_elements": "100",
        "data_unique_bytes": "400",
        "warmup": "5",
        "min_iterations": "10",
        "max_iterations": "10000",
        "precision": "0.05",
        "at_most": "0.5",
        "at_least": "0.125",
        "instrumented": "5",
        "metrics": "results/native/here/plugins/bias.so\nresults/native/here/plugins/psnr.so",
    }
    plain = lines["plain", "library:ring", "8"]
    assert (plain["data"], plain["bound"]) == ("pattern", "none")
    idle = {"plugin", "codec", "codec_plugin", "bound_value", "data_path", "data_elements", "metrics"}
    assert not idle & set(plain)


def test_a_second_inventory_touches_nothing(house: House) -> None:
    assert len(house.take()) == 5
    stamps = {p: p.stat().st_mtime_ns for p in house.places.directory.rglob("*.json")}
    assert house.take() == []
    assert {p: p.stat().st_mtime_ns for p in house.places.directory.rglob("*.json")} == stamps


def test_adding_a_size_adds_points_and_changes_no_key(house: House) -> None:
    house.take()
    before, [old] = house.keys(), house.read(house.places.batches)["batches"]
    house.campaign(size=", 512")
    house.take()
    after, [new] = house.keys(), house.read(house.places.batches)["batches"]
    assert set(after) - set(before) == {"library:default none 512", "library:ring none 512"}
    assert {name: after[name] for name in before} == before
    assert new["batch"] == old["batch"]
    assert new["digest"] != old["digest"]


def test_a_codec_that_was_rebuilt_changes_only_its_points(house: House) -> None:
    house.take()
    before = house.keys()
    house.build(zfp="rebuilt")
    house.take()
    assert {name for name, key in house.keys().items() if before[name] != key} == {"compressed:ring zfp 64"}


def test_a_metric_that_was_rebuilt_changes_only_the_points_that_have_a_fidelity(house: House) -> None:
    house.take()
    before = house.keys()
    house.build(bias="rebuilt")
    house.take()
    assert {name for name, key in house.keys().items() if before[name] != key} == {"compressed:ring zfp 64"}


def test_the_plan_lists_the_metrics_that_the_campaign_asks_for(house: House) -> None:
    house.take()
    assert house.read(house.places.points)["metrics"] == [
        {"name": "bias", "values": ["bias", "ratio"], "units": ["data", "1"], "summary": "a mean"},
        {"name": "psnr", "values": ["psnr"], "units": ["dB"], "summary": "a ratio"},
    ]
    everything = house.keys()
    house.campaign(more="metrics: [psn*]")
    house.take()
    assert [m["name"] for m in house.read(house.places.points)["metrics"]] == ["psnr"]
    one = house.keys()
    house.build(bias="rebuilt")
    house.take()
    assert house.keys() == one  # what the campaign does not ask for is no part of it
    house.campaign(more="metrics: []")
    house.take()
    assert house.read(house.places.points)["metrics"] == []
    none = house.keys()
    assert len({keys["compressed:ring zfp 64"] for keys in (everything, one, none)}) == 3
    assert everything["library:ring none 8"] == none["library:ring none 8"]


def test_a_name_of_another_kind_of_plugin_and_a_pattern_without_a_metric_are_told(house: House) -> None:
    house.campaign(more="metrics: [psnr, zfp]")
    with pytest.raises(CollpressError, match='the plugin "zfp" is no metric') as error:
        house.take()
    assert error.value.where.endswith("mini.yaml:13: metrics[1]")
    assert error.value.allowed == "bias, psnr"
    house.campaign(more="metrics: [psnr, no*]")
    expansion, _, _ = take_inventory(load_campaign("mini"), load_platform("here"))
    assert any('metrics[1]: no metric matches "no*"; there is bias, psnr' in w for w in expansion.warnings)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("['*']", ["Bad-Name", "mine"]),
        ("[psnr, mine]", ["mine"]),
        ("[m*, zfp]", ["mine", "zfp"]),
        ("[psnr]", []),
        ("[]", []),
    ],
)
def test_a_metric_that_does_not_compile_is_told_and_changes_neither_key_nor_point(
    house: House, asked: str, told: list[str]
) -> None:
    (house.root / "config/campaigns/own").mkdir()
    house.places.plugins.parent.mkdir(parents=True, exist_ok=True)

    def take_with(*names: str) -> dict[str, str]:
        broken = [{"name": n, "source": f"own/{n}.cpp", "reason": f"{n}.cpp:3: no"} for n in names]
        house.write(house.places.plugins.as_posix(), {"schema": 1, "core": None, "plugins": [], "broken": broken})
        house.take()
        return house.keys()

    sound = asked.replace(", mine", "").replace(", zfp", "").replace("m*", "psnr" if told == ["mine"] else "mi*")
    house.campaign(more=f"plugins: [own]\nmetrics: {sound}")
    before = take_with()
    house.campaign(more=f"plugins: [own]\nmetrics: {asked}")
    # The campaign names zfp as a codec: only by its own name can a broken source of that name be a metric.
    assert take_with("zfp", "mine", "Bad-Name") == before
    plan = house.read(house.places.points)
    assert not any(p["failed"] for p in plan["points"])
    assert plan["broken_metrics"] == [{"name": n, "reason": f"the plugin cannot be used: {n}.cpp:3: no"} for n in told]


def test_a_metric_with_the_name_of_something_else_in_a_cube_is_refused(house: House) -> None:
    build = house.read(Path("results/native/here/build.json"))
    build["plugins"][-1]["name"] = "bytes"
    house.write("results/native/here/build.json", build)
    with pytest.raises(CollpressError, match="a metric cannot be called bytes"):
        house.take()


def test_an_inventory_from_before_there_were_metrics_still_reads(house: House) -> None:
    house.take()
    document = house.read(house.places.inventory)
    assert [m["name"] for m in document.pop("metrics")] == ["bias", "psnr"]
    house.write(house.places.inventory.as_posix(), document)
    offer = known_offer(house.places)
    assert offer is not None
    assert offer.metrics == ()


def test_another_library_under_a_codec_changes_only_its_points(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.take()
    before = house.keys()
    monkeypatch.setattr("collpress.plan.inventory.libraries", lambda: {"zfp": "another"})
    house.take()
    changed = {name for name, key in house.keys().items() if before[name] != key}
    assert changed
    assert all(" zfp " in name for name in changed)


def test_a_core_that_finds_another_mpi_library_than_it_was_built_with_is_refused(house: House) -> None:
    house.core(f"print({json.dumps(OFFERS | {'library': 'Open MPI v9'})!r})")
    with pytest.raises(CollpressError, match="it finds Open MPI v9"):
        house.take()


def test_more_launches_change_the_digest_and_no_key(house: House) -> None:
    house.take()
    before, [old] = house.keys(), house.read(house.places.batches)["batches"]
    house.campaign(launches=3)
    house.take()
    [new] = house.read(house.places.batches)["batches"]
    assert house.keys() == before
    assert (new["batch"], new["digest"] == old["digest"]) == (old["batch"], False)


def test_a_new_core_makes_new_batches_and_the_old_index_goes(house: House) -> None:
    house.take()
    [old] = house.read(house.places.batches)["batches"]
    house.build(core="rebuilt")
    house.take()
    [new] = house.read(house.places.batches)["batches"]
    assert new["batch"] != old["batch"]
    assert [p.stem for p in house.places.batch_index("x").parent.glob("*.json")] == [new["batch"]]


def test_a_point_that_comes_back_comes_back_to_its_shard(house: House) -> None:
    house.take()
    before = house.read(house.places.directory / "shards.json")
    house.campaign(size=", 512")
    house.take()
    house.campaign()
    house.take()
    after = house.read(house.places.directory / "shards.json")
    assert {i: after["shards"]["1x2"][i] for i in before["shards"]["1x2"]} == before["shards"]["1x2"]
    assert len(after["shards"]["1x2"]) == len(before["shards"]["1x2"]) + 2


def test_a_core_that_only_starts_under_the_launcher_is_asked_there(house: House) -> None:
    house.core(f"sys.exit(1) if 'LAUNCHED' not in os.environ else print({json.dumps(OFFERS)!r})")
    (house.root / "mpiexec").write_text('#!/bin/sh\nshift 2\nLAUNCHED=1 exec "$@"\n', encoding="utf-8")
    (house.root / "mpiexec").chmod(0o755)
    house.take()
    assert "library:ring none 8" in set(house.keys())


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda h: (h.root / "results/native/here/build.json").unlink(),
            ["build.json: nothing is built yet", "collpress build --platform here"],
        ),
        (lambda h: h.write("results/native/here/build.json", {"schema": 2}), ["not a build record, version 1"]),
        (
            lambda h: (h.root / "results/native/here/build.json").write_text("{", encoding="utf-8"),
            ["build.json: cannot be read", "collpress build --platform here"],
        ),
        (
            lambda h: h.write("results/native/here/build.json", {"schema": 1, "core": None, "plugins": []}),
            ["build.json: the build record has no core"],
        ),
        (
            lambda h: (h.root / "results/data/made/field.json").unlink(),
            ["field.json does not exist", "collpress dataset get made/field"],
        ),
        (
            lambda h: (h.root / "results/data/made/field.bin").write_bytes(b"short"),
            ["is not the file that its sidecar describes"],
        ),
        (lambda h: h.core("print('no'); sys.exit('no MPI here')"), ["the core does not say", "no MPI here", "mpiexec"]),
        (lambda h: (h.root / "results/native/here/collpress-core").unlink(), ["the core does not say", "No such file"]),
        (lambda h: h.write("results/campaigns/mini/here/shards.json", {"schema": 9}), ["is not a record of shards"]),
    ],
)
def test_what_is_missing_or_broken_is_named(house: House, spoil: Any, told: list[str]) -> None:
    house.take()
    spoil(house)
    with pytest.raises(CollpressError) as error:
        house.take()
    for part in told:
        assert part in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_results_that_cannot_be_written_are_named(house: House) -> None:
    (house.root / "results").chmod(0o555)
    with pytest.raises(CollpressError, match="results/campaigns"):
        house.take()


def test_a_file_in_the_way_of_results_is_named(house: House) -> None:
    (house.root / "results/campaigns").write_text("in the way", encoding="utf-8")
    with pytest.raises(CollpressError, match="results/campaigns"):
        house.take()


def test_plan_tells_what_is_to_be_fetched_until_it_is_there(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    registry = json.loads((house.root / "config/datasets.yaml").read_text(encoding="utf-8"))
    field = registry["datasets"]["made/field"]
    del field["generator"]
    field["url"] = {
        "file": "field.f32",
        "addresses": ["https://example.invalid/{file}"],
        "bytes": 400,
        "sha256": "0" * 64,
        "raw": {"byte_order": "little"},
    }
    house.write("config/datasets.yaml", registry)
    told = []
    for missing in (True, False):
        if missing:
            (house.root / "results/data/made/field.bin").unlink()
        else:
            (house.root / "results/data/made/field.bin").write_bytes(b"\0" * 400)
        assert main(["plan", "mini", "--platform", "here"]) == 0
        told.append(capsys.readouterr().out)
        assert main(["plan", "mini", "--platform", "here", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["fetch"] == ({"field.f32": 400} if missing else {})
    assert "0.0 MB of data to fetch first (1 file: field.f32)" in told[0]
    assert "to fetch" not in told[1]


def test_plan_works_before_the_build_and_is_exact_after_the_inventory(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["plan", "mini", "--platform", "here"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "not known before the build" in told
    assert "packed: not today (1)" in told
    assert "made/field has 100 elements" in told
    assert main([*arguments, "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert (before["exact"], before["at_least"], before["cost"]["points"]) == (False, 3, 3)
    assert main(["inventory", "mini", "--platform", "here"]) == 0
    assert "5 points in 1 batch, 1 unsupported, 0 that cannot run today, 1 excluded" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert (after["exact"], after["cost"]["points"], after["cost"]["batches"]) == (True, 5, 1)
    assert [(e["experiment"], e["points"], e["excluded"], e["unsupported"]) for e in after["experiments"]] == [
        ("plain", 4, 0, 0),
        ("packed", 1, 1, 0),
        ("long", 0, 0, 1),
    ]


def test_algorithms_lists_all_kinds(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["algorithms", "--platform", "here", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(r["collective"], r["kind"], r["name"], r["backend"]) for r in told["rows"]] == [
        ("allreduce", "library", "default", "mpi"),
        ("allreduce", "library", "ring", "mpi"),
        ("allreduce", "compressed", "ring", "native"),
    ]
    assert told["summary"] == {"algorithms": 3, "library": 2, "compressed": 1}
    assert told["machine"]["mpi"] == OFFERS["library"]
    assert main(["algorithms", "--platform", "here"]) == 0
    text = capsys.readouterr().out
    assert "compressed:ring" in text
    assert "bcast\n  nothing: this core does not call it" in text


def test_algorithms_tells_of_each_collective_what_its_algorithms_can(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    able = {"segments": True, "fanout": True}
    said = [
        {"collective": "allreduce", "name": "default", "id": 0, "segments": False, "fanout": False},
        {"collective": "pingpong", "name": "default", "id": 0, "segments": False, "fanout": False},
        {"collective": "bcast", "name": "chain", "id": 2, **able},
        {"collective": "allgather", "name": "recursive_doubling", "id": 3, "power_of_two": True, **able},
        {"collective": "alltoall", "name": "replace", "id": 4, **able, "in_place": True, "only_in_place": True},
    ]
    house.core(f"print({json.dumps(OFFERS | {'algorithms': said})!r})")
    arguments = ["algorithms", "--platform", "here"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[:12] == [
        "allreduce",
        "  library:default                      in place too",
        "  compressed:ring",
        "allgather",
        "  library:default                      in place too",
        "  library:recursive_doubling           a power of two of ranks, in place too, segment_bytes, fanout",
        "alltoall",
        "  library:default                      in place too",
        "  library:replace                      in place only, segment_bytes, fanout",
        "bcast",
        "  library:default",
        "  library:chain                        segment_bytes, fanout",
    ]
    assert main([*arguments, "--collective", "bcast", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(r["collective"], r["name"]) for r in told["rows"]] == [("bcast", "default"), ("bcast", "chain")]
    assert told["rows"][1]["constraints"] == {
        "min_ranks": 1,
        "power_of_two_ranks": False,
        "count_at_least_ranks": False,
        "in_place": False,
        "only_in_place": False,
        "segments": True,
        "least_fanout": 2,
        "needs_add": False,
    }
    assert main([*arguments, "--collective", "pingpong"]) == 0
    assert "at least 2 ranks" in capsys.readouterr().out


def test_plugins_say_what_they_can_and_an_inventory_keeps_it(house: House) -> None:
    build = json.loads((house.root / "results/native/here/build.json").read_text(encoding="utf-8"))
    ring = next(p for p in build["plugins"] if p["name"] == "ring")
    ring |= {"in_place": True, "segments": True, "least_fanout": 3}
    house.write("results/native/here/build.json", build)
    house.take()
    offer = known_offer(house.places)
    assert offer is not None
    found = offer.algorithm("allreduce", "compressed:ring")
    assert found is not None
    assert (found.in_place, found.segments, found.least_fanout) == (True, True, 3)


def test_a_mistake_is_told_without_a_traceback(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "mimi", "--platform", "here"]) == 2
    assert 'did you mean "mini"' in capsys.readouterr().err
    assert main(["plan", "mini", "--platform", "there"]) == 2
    assert "config/platforms/there.yaml does not exist" in capsys.readouterr().err


def test_schemas_are_written_and_checked(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--check"]) == 2
    assert main(["schema", "--write"]) == 0
    assert main(["schema"]) == 0
    (house.root / "config/schemas/campaign.schema.json").write_text("{}", encoding="utf-8")
    assert main(["schema"]) == 2
    assert "campaign.schema.json" in capsys.readouterr().err
