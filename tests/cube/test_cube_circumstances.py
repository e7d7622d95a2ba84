"""A cube says how its points were to be measured and on which data, so that two cubes can be compared honestly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_campaign import small

from collpress.cube.asked import dataset_checksums
from collpress.cube.build import build_cube
from collpress.errors import CollpressError


def test_settings_and_checksums_are_in_the_provenance(tmp_path: Path) -> None:
    campaign = small()
    for record in campaign.records:
        record["requested"] |= {"warmup": "5", "at_most": "0.2" if record["launch"] < 3 else "0.1"}
    folder = campaign.write(tmp_path)
    listed = [{"id": name, "sha256": name[0] * 64} for name in ("colpex/theta", "synthetic/power-law", "unused/field")]
    (folder / "inventory.json").write_text(json.dumps({"datasets": listed}), encoding="utf-8")
    said = json.loads(build_cube(folder, root=folder).attrs["provenance"])
    assert said["measure"] == {"warmup": ["5"], "at_most": ["0.1", "0.2"]}
    assert said["datasets"] == {"colpex/theta": "c" * 64, "synthetic/power-law": "s" * 64}


def test_what_is_not_known_is_null_or_absent_and_never_made_up(tmp_path: Path) -> None:
    folder = small().write(tmp_path)
    said = json.loads(build_cube(folder, root=folder).attrs["provenance"])
    assert (said["measure"], said["datasets"]) == ({}, None)


def test_the_load_that_launches_saw_is_in_the_provenance(tmp_path: Path) -> None:
    folder = small().write(tmp_path)
    load = json.loads(build_cube(folder, root=folder).attrs["provenance"])["load"]
    assert load == {"launches": 5, "cpus": None, "load_average": [0.4, 0.4], "runnable": [3, 3]}


@pytest.mark.parametrize("text", ["{", "{}", '{"datasets": [1]}'])
def test_a_damaged_inventory_is_a_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "inventory.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CollpressError, match="this inventory cannot be read"):
        dataset_checksums(path, ["colpex/theta"])


def attempt(rate: int | None, measured: float, verdict: str, kind: str = "namespaces") -> str:
    link = {"rate": rate, "measured": measured, "verdict": verdict} if rate else None
    hosts = {"kind": kind, "names": ["a", "b"], "rate": rate, "link": link}
    return json.dumps({"host": "h", "machine": {}, "git": None, "launch": {"hosts": hosts}})


def test_the_links_that_attempts_had_are_told_with_what_was_found(tmp_path: Path) -> None:
    folder = small().write(tmp_path)
    for number, text in enumerate(
        [
            attempt(10**9, 0.99e9, "met"),
            attempt(10**9, 0.5e9, "missed"),
            attempt(10**9, 1.01e9, "met"),
            attempt(10**8, 0.5e8, "missed", "loopback"),
            attempt(None, 0, "met"),
        ]
    ):
        (folder / "batches/b0c0ffee" / f"provenance-{number}.json").write_text(text, encoding="utf-8")
    link = {"kind": "namespaces", "medium": "a link, its rate in each direction"}
    bus = {"kind": "loopback", "medium": "loopback, shared by both directions"}
    assert json.loads(build_cube(folder, root=folder).attrs["provenance"])["links"] == [
        {**link, "rate": 10**9, "found": [0.99e9, 1.01e9], "met": 2, "missed": 1},
        {**bus, "rate": 10**8, "found": None, "met": 0, "missed": 1},
        {**link, "rate": None, "found": None, "met": 0, "missed": 0},
    ]


def test_on_one_host_there_is_no_link(tmp_path: Path) -> None:
    folder = small().write(tmp_path)
    launch = {"environment": {}, "binding": "core"}
    text = json.dumps({"host": "h", "machine": {}, "git": None, "launch": launch})
    (folder / "batches/b0c0ffee/provenance-1.json").write_text(text, encoding="utf-8")
    assert json.loads(build_cube(folder, root=folder).attrs["provenance"])["links"] == []
