"""Knobs: a name must be the platform's, the set's variables are part of a batch's and a point's identity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_house import House

from collpress.cli import main
from collpress.errors import CollpressError
from collpress.plan.inventory import take_inventory
from collpress.spec import load_campaign, load_platform

CAMPAIGN = """\
title: A test
defaults: {{collective: allreduce, algorithm: library:default, message_bytes: 64, ranks: 2}}
experiments:
  e:
    matrix:
      op: [sum, max]
      knobs: {knobs}
{more}
"""
EAGER = "eager: {OMPI_MCA_btl_sm_eager_limit: 65536}"


class Knobs(House):
    """The small house, whose platform has sets of knobs and whose campaign asks for some."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.platform_file, self.plain = root / "config/platforms/here.yaml", ""
        self.plain = self.platform_file.read_text(encoding="utf-8")
        self.sets(EAGER)
        self.ask("[none, eager]")

    def sets(self, *sets: str) -> None:
        text = self.plain + "knobs:\n" + "".join(f"  {one}\n" for one in sets)
        self.platform_file.write_text(text, encoding="utf-8")

    def ask(self, knobs: str, more: str = "") -> None:
        path = self.root / "config/campaigns/mini.yaml"
        path.write_text(CAMPAIGN.format(knobs=knobs, more=more), encoding="utf-8")

    def points(self) -> dict[tuple[str, str], dict[str, Any]]:
        """By knobs and op."""
        self.take()
        return {(p["factors"]["knobs"], p["factors"]["op"]): p for p in self.read(self.places.points)["points"]}

    def environments(self) -> dict[str, dict[str, str]]:
        """Of each batch."""
        return {row["batch"]: self.read(self.places.batch_index(row["batch"]))["environment"] for row in self.batches()}

    def batches(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.read(self.places.batches)["batches"]
        return rows


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Knobs:
    root = tmp_path / "mon château"
    root.mkdir()
    monkeypatch.chdir(root)
    return Knobs(root)


@pytest.mark.parametrize("verb", ["plan", "inventory"])
def test_a_name_that_the_platform_lacks_is_refused_before_anything_starts(
    house: Knobs, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    house.sets("eager: {A: 1}", "rendezvous: {A: 2}")
    house.ask("[none, eagre, other]")
    assert main([verb, "mini", "--platform", "here"]) == 2
    said = capsys.readouterr().err
    assert 'config/campaigns/mini.yaml:7: experiments.e.matrix.knobs: the platform here has no knobs "eagre"' in said
    assert "allowed: none, eager, rendezvous" in said
    assert 'fix: did you mean "eager"?' in said
    assert 'the platform here has no knobs "other"' in said
    assert "fix: add them under knobs in config/platforms/here.yaml" in said
    assert not house.places.points.exists()


@pytest.mark.parametrize(
    ("matrix", "defaults", "place"),
    [
        ("matrix: {op: sum}", "knobs: far, ", ":2: defaults.knobs"),
        ("zip: {op: [sum, max], knobs: [none, far]}", "", ":5: experiments.e.zip"),
        ("zip: [{op: [sum, max]}, {ranks: [2, 3], knobs: [none, far]}]", "knobs: eager, ", ":5: experiments.e.zip[1]"),
    ],
)
def test_the_line_is_the_one_that_asks(house: Knobs, matrix: str, defaults: str, place: str) -> None:
    text = CAMPAIGN.format(knobs="none", more="").replace("{collective", "{" + defaults + "collective")
    block = "    matrix:\n      op: [sum, max]\n      knobs: none\n"
    assert block in text
    path = house.root / "config/campaigns/mini.yaml"
    path.write_text(text.replace(block, f"    {matrix}\n"), encoding="utf-8")
    with pytest.raises(CollpressError, match='no knobs "far"') as error:
        house.take()
    assert place in error.value.where


def test_a_name_that_is_cut_need_not_be_there(house: Knobs) -> None:
    house.ask("[none, far]", "    exclude: [{when: knobs == \"far\", because: 'another machine'}]")
    assert {name for name, _ in house.points()} == {"none"}


def test_a_pattern_takes_the_sets_that_the_platform_has(house: Knobs) -> None:
    house.sets("eager-1: {A: 1}", "eager-2: {A: 2}", "other: {A: 3}")
    house.ask("[none, 'eager-*', 'far-*']")
    assert {name for name, _ in house.points()} == {"none", "eager-1", "eager-2"}
    expansion, _, _ = take_inventory(load_campaign("mini"), load_platform("here"))
    [told] = expansion.warnings
    assert told.endswith(':7: experiments.e.matrix.knobs: nothing matches "far-*"; there is eager-1, eager-2, other')


def test_the_variables_reach_the_launch_of_their_batch_and_of_no_other(house: Knobs) -> None:
    house.sets("eager: {OMPI_MCA_btl_sm_eager_limit: 65536, MINE: 2, OMPI_MCA_btl: 'self,sm,tcp'}", "other: {B: 1}")
    house.ask("[none, eager, other]")
    points, environments = house.points(), house.environments()
    assert len(environments) == 3
    plain, eager, other = (environments[points[name, "sum"]["batch"]] for name in ("none", "eager", "other"))
    assert plain["MINE"] == "1"
    assert other == plain | {"B": "1"}
    own = {"OMPI_MCA_btl_sm_eager_limit": "65536", "MINE": "2", "OMPI_MCA_btl": "self,sm,tcp"}
    assert eager == plain | own  # before the platform's environment, and before what we set ourselves
    assert all(points[name, "max"]["batch"] == points[name, "sum"]["batch"] for name in ("none", "eager", "other"))


def test_knobs_none_are_the_launch_without_any(house: Knobs) -> None:
    house.ask("none")
    before, environment = house.points(), house.environments()
    house.sets("eager: {OMPI_MCA_btl_sm_eager_limit: 1}", "other: {B: 1}")
    assert (house.points(), house.environments()) == (before, environment)
    house.platform_file.write_text(house.plain, encoding="utf-8")
    assert (house.points(), house.environments()) == (before, environment)
    path = house.root / "config/campaigns/mini.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("      knobs: none\n", ""), encoding="utf-8")
    assert (house.points(), house.environments()) == (before, environment)


@pytest.mark.parametrize(
    "change", ["{OMPI_MCA_btl_sm_eager_limit: 4096}", "{OMPI_MCA_btl_sm_eager_limit: 65536, B: 1}"]
)
def test_another_value_is_another_batch_and_other_keys_of_the_same_points(house: Knobs, change: str) -> None:
    before = house.points()
    house.sets(f"eager: {change}")
    after = house.points()
    assert {place: p["id"] for place, p in after.items()} == {place: p["id"] for place, p in before.items()}
    changed = {place for place in before if after[place]["key"] != before[place]["key"]}
    assert changed == {("eager", "sum"), ("eager", "max")}
    assert {place for place in before if after[place]["batch"] != before[place]["batch"]} == changed


def test_the_same_values_under_another_name_are_other_points_in_the_same_launches(house: Knobs) -> None:
    """Ids hash what was asked for, and that is the name; what is launched in the same way is launched together."""
    house.sets(EAGER, EAGER.replace("eager:", "again:", 1), "nothing-new: {MINE: 1}")
    house.ask("[none, eager, again, nothing-new]")
    points = house.points()
    assert len({p["id"] for p in points.values()}) == len({p["key"] for p in points.values()}) == len(points) == 8
    batch = {name: points[name, "sum"]["batch"] for name in ("none", "eager", "again", "nothing-new")}
    assert batch["again"] == batch["eager"] != batch["none"] == batch["nothing-new"]
    assert {row["batch"]: row["points"] for row in house.batches()} == {batch["eager"]: 4, batch["none"]: 4}


def test_the_plan_counts_the_batches_that_there_will_be(house: Knobs, capsys: pytest.CaptureFixture[str]) -> None:
    house.sets(EAGER, EAGER.replace("eager:", "again:", 1))
    house.ask("[none, eager, again]")
    path = house.root / "config/campaigns/mini.yaml"
    text = path.read_text(encoding="utf-8").replace("op: [sum, max]", "backend: [mpi, mpi4py]")
    path.write_text(text, encoding="utf-8")
    house.take()
    assert main(["plan", "mini", "--platform", "here", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["batches"] == len(house.batches()) == 4


def test_a_set_with_another_name_is_measured_anew(house: Knobs) -> None:
    before = house.points()
    house.sets(EAGER.replace("eager:", "renamed:", 1))
    house.ask("[none, renamed]")
    after = house.points()
    assert after["renamed", "sum"]["key"] != before["eager", "sum"]["key"]
    assert after["renamed", "sum"]["batch"] == before["eager", "sum"]["batch"]
    assert after["none", "sum"] == before["none", "sum"]


def test_a_variable_that_the_library_lacks_is_refused_where_its_set_is_asked_for(house: Knobs) -> None:
    build = house.read(Path("results/native/here/build.json"))
    build["mpi"]["wrapper"] = "mpicxx"  # of Open MPI's wheel
    house.write("results/native/here/build.json", build)
    house.sets(EAGER, "wrong: {OMPI_MCA_btl_sm_eagr_limit: 1}")
    house.take()
    written = house.read(house.places.points)
    house.ask("[none, '*']")
    with pytest.raises(CollpressError, match="no variable OMPI_MCA_btl_sm_eagr_limit") as error:
        house.take()
    assert error.value.where == "config/platforms/here.yaml:9: knobs.wrong.OMPI_MCA_btl_sm_eagr_limit"
    assert error.value.fix == 'did you mean "OMPI_MCA_btl_sm_eager_limit"?'
    assert house.read(house.places.points) == written
