"""`collpress compare` on cubes that were made up: what is printed, and what is said of a cube that is none."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr

from collpress.cli import main
from collpress.cube.axes import FACTORS
from collpress.cube.quantities import CELL, LAUNCH, PHASES
from collpress.figures.stamped import read_stamp
from collpress.layout import BASELINES

FLAGS = {"flag_values": np.array([0, 4, 10], dtype=np.int8), "flag_meanings": "ok crashed not_planned"}
SLOW, FAST = [2e-6, 2.1e-6, 2.2e-6, 2.05e-6, 2.15e-6], [1e-6, 1.1e-6, 1.2e-6, 1.05e-6, 1.15e-6]


def write_cube(path: Path, library: str, ring: list[float], status: int = 0) -> Path:
    """MADE UP: two sizes of one algorithm that both libraries have, and one that only this one has."""
    names = ["library:default", f"library:{library}"]
    codes = np.array([[0, status], [0, 10]], dtype=np.int8)
    medians = np.array([[ring, ring], [ring, [np.nan] * 5]])
    medians[codes != 0] = np.nan
    dims = ["algorithm", "message_bytes"]
    group = xr.Dataset(
        {
            "status": (dims, codes, FLAGS),
            "reason": (dims, (codes == 4).astype(np.int32)),
            "reason_text": (["reason_index"], np.array(["", "killed by SIGSEGV"])),
            "latency_launch_median": ([*dims, "launch"], medians),
            "latency_launch_p99": ([*dims, "launch"], medians * 2),
        },
        coords={"algorithm": names, "message_bytes": np.array([8, 64])},
    )
    provenance = {
        "world": {"mpi_libraries": [f"{library} 1.0, made up"], "hosts": ["a"]},
        "datasets": {},
        "measure": {"warmup": ["5"]},
        "load": {"load_average": [0.5, 0.9], "runnable": [1, 2], "cpus": 2, "launches": 5},
    }
    provenance["hardware"] = {"cpu_model": "made up"}
    group = completed(group)
    attrs = {
        "schema_version": 1,
        "launches": 5,
        "experiments": "tuning",
        "campaign": "quick",
        "platform": path.parent.name or "here",
    }
    attrs |= {"id": library + path.stem, "planned_points": 3, "ok_points": 3, "provenance": json.dumps(provenance)}
    root = xr.Dataset(attrs=attrs)
    path.parent.mkdir(parents=True, exist_ok=True)
    xr.DataTree.from_dict({"/": root, "/tuning": group}).to_netcdf(path, engine="netcdf4")
    return path


def completed(group: xr.Dataset) -> xr.Dataset:
    """MADE UP: the rest of a sound cube, which comparisons do not look at."""
    usual = {"ranks": 2, "nodes": 1, "dtype": "float32", "collective": "allreduce"}
    group = group.expand_dims({name: [usual.get(name, "none")] for name in FACTORS if name not in group.dims})
    group["reason_text"] = group["reason_text"].isel(dict.fromkeys(group["reason_text"].dims[:-1], 0), drop=True)
    group = group.assign_coords(launch=np.arange(5, dtype=np.int32), phase=list(PHASES))
    zero, status = xr.zeros_like(group["status"]).drop_attrs(), group["status"]
    flag = zero.assign_attrs(flag_values=np.array([0], dtype=np.int8), flag_meanings="unknown")
    numbers = ("latency_median", "latency_ci_low", "latency_ci_high", "algbw", "busbw", "compression_ratio")
    group = group.assign(dict.fromkeys(("point", "n_ok", "n_iterations", "n_noisy"), zero))
    group = group.assign(dict.fromkeys(("noisy", "effective_algorithm", "known_by"), flag))
    group = group.assign(dict.fromkeys((*CELL, *numbers), zero * np.nan))
    group = group.assign({name: group["latency_launch_median"] for name in LAUNCH if name not in group})
    group["launch_status"] = status.expand_dims(launch=group["launch"]).assign_attrs(status.attrs)
    group["phase_time"] = (zero * np.nan).expand_dims(phase=group["phase"])
    for name in ("point_id", "point_key"):
        group[name] = ("point_index", np.array(["00"]))
    return group.assign_attrs(experiment="tuning")


@pytest.fixture
def cubes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two platforms' cubes of one campaign, as CAMPAIGN/PLATFORM."""
    monkeypatch.chdir(tmp_path)
    write_cube(Path("results/campaigns/quick/one/cube.nc"), "ring", SLOW)
    write_cube(Path("results/campaigns/quick/two/cube.nc"), "tree", FAST, status=4)
    return ["quick/one", "quick/two"]


def test_points_stand_side_by_side_with_ratio_limits_and_a_word(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *cubes]) == 0
    said, warned = capsys.readouterr()
    assert warned == ""
    rows = [line.split() for line in said.splitlines()]
    assert ["2.1", "us", "1.1", "us", "0.524", "0.476", "..", "0.575", "0.0079", "faster"] in rows
    assert "A: quick/one, ring 1.0\nB: quick/two, tree 1.0" in said
    assert "tuning: A ok; B crashed: killed by SIGSEGV (1: " in said
    assert "tuning: A ok; B does not have it (1: " in said
    assert "1 points compared: B is faster in 1, slower in 0, no difference shown in 0" in said
    assert "ratio B/A with its limits of 95 % (exact bootstrap);" in said
    assert "chance would show up to about 0.1 differences. Launches of one campaign do not cover drift" in said
    assert "not compared: 1 only in A, 1 only in B, 1 not ok in both" in said
    assert "1 in both (library:default); 1 only in A, 1 only in B" in said


def test_sizes_and_settings_are_said_as_people_say_them(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = write_cube(Path("large.nc"), "ring", SLOW)
    tree = xr.open_datatree(path).load()
    tree["tuning"] = tree["tuning"].to_dataset().assign_coords(message_bytes=np.array([8, 1 << 20]))
    told = json.loads(str(tree.attrs["provenance"]))
    told["measure"] = {"warmup": ["5"], "at_most": ["0.16666666666666666"]}
    tree.attrs["provenance"] = json.dumps(told)
    tree.to_netcdf("larger.nc", engine="netcdf4")
    assert main(["compare", cubes[0], "larger.nc"]) == 0
    said = capsys.readouterr()
    assert "warning: measured with another at_most: A with nothing said, B with 0.1667\n" in said.err
    assert "message_bytes 1 MiB" in said.out
    assert "message_bytes 8 B" in said.out


def test_json_says_the_same_and_holds_no_nan(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *cubes, "--json", "--metric", "latency_p99"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    assert set(document) == {"schema", "machine", "rows", "summary"}
    compared, *others = document["rows"]
    assert (compared["a"], compared["b"], compared["verdict"]) == (
        pytest.approx(4.2e-6),
        pytest.approx(2.2e-6),
        "faster",
    )
    assert {row["verdict"] for row in others} == {"not comparable"}
    summary = document["summary"]
    assert (summary["faster"], summary["only_a"], summary["only_b"], summary["not_ok"]) == (1, 1, 1, 1)
    assert summary["expected_by_chance"] == pytest.approx(0.05)
    assert summary["library_algorithms"] == {
        "only_a": ["library:ring"],
        "both": ["library:default"],
        "only_b": ["library:tree"],
    }


def test_a_cube_can_be_named_by_its_path(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", cubes[0], "results/campaigns/quick/one/cube.nc"]) == 0
    said, warned = capsys.readouterr()
    assert "no difference shown in 3" in said
    assert "warning: A and B are the same cube" in warned


def test_other_campaigns_are_warned_about_and_without_pairs_nothing_is_said_of_chance(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tree = xr.open_datatree(write_cube(Path("other.nc"), "ring", [float("nan")] * 5)).load()
    tree.attrs["campaign"] = "another"
    tree.to_netcdf("another.nc", engine="netcdf4")
    assert main(["compare", cubes[0], "another.nc"]) == 2
    said, warned = capsys.readouterr()
    assert "warning: different campaigns: A is quick, B is another" in warned
    assert "chance" not in said


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("quick", "names no cube"),
        ("quick/one/more", "names no cube"),
        ("quick/nowhere", "there is no cube"),
        ("../x/one", "names no cube"),
        ("gone.nc", "there is no cube"),
        ("torn.nc", "the cube cannot be read"),
        ("other.nc", "this is no cube of collpress"),
        ("empty.nc", "no point is ok in both"),
    ],
)
def test_a_cube_that_is_none_is_a_message(
    word: str, told: str, cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("torn.nc").write_bytes(Path("results/campaigns/quick/one/cube.nc").read_bytes()[:3000])
    xr.Dataset({"x": 1}).to_netcdf("other.nc", engine="netcdf4")
    write_cube(Path("empty.nc"), "ring", [float("nan")] * 5)
    assert main(["compare", "quick/one", word]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said


def test_an_unknown_metric_is_answered_with_those_that_there_are(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *cubes, "--metric", "latency"]) == 2
    assert "allowed: latency_median, latency_p99" in capsys.readouterr().err


def test_what_may_spoil_the_comparison_is_warned_about(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = write_cube(Path("later.nc"), "ring", SLOW)
    tree = xr.open_datatree(path).load()
    tree.attrs["launches"] = 4
    tree["tuning"] = tree["tuning"].isel(launch=slice(4))
    tree.to_netcdf("changed.nc", engine="netcdf4")
    assert main(["compare", cubes[0], "changed.nc"]) == 0
    assert "warning: another number of launches: A has 5, B has 4" in capsys.readouterr().err


def test_sizes_are_said_as_people_say_them_and_never_two_alike(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tree = xr.open_datatree("results/campaigns/quick/one/cube.nc").load()
    tree["tuning"] = tree["tuning"].to_dataset().assign_coords(message_bytes=np.array([1 << 20, (1 << 20) + 1]))
    tree.to_netcdf("large.nc", engine="netcdf4")
    assert main(["compare", "large.nc", "large.nc"]) == 0
    columns = [line.split() for line in capsys.readouterr().out.splitlines()]
    sizes = {" ".join(words[1:3]) for words in columns if words[:1] == ["library:default"]}
    assert sizes == {"1 MiB", "1048577 B"}


def test_each_way_to_end_has_its_exit_code(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    one, two = cubes
    rule = ["--fail-if", "slower > 5 %"]
    assert main(["compare", one, two, *rule]) == 0
    assert main(["compare", two, one, *rule]) == 4
    said = capsys.readouterr()
    assert "regressions (slower > 5 %), the worst first:" in said.out
    assert "1 of 1 points are regressions (slower > 5 %, latency_median)" in said.err
    assert main(["compare", two, one]) == 0
    assert main(["compare", one, two, "--require-all"]) == 3
    assert "3 points that one side has are not compared" in capsys.readouterr().err
    assert main(["compare", one, two, "--fail-if", "slower > lots"]) == 2
    assert main(["compare", one, one, *rule]) == 2
    assert "nothing was measured again" in capsys.readouterr().err


def test_every_output_is_written_beside_the_table_also_when_the_comparison_fails(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--json", "out/c.json", "--junit", "out/c.xml", "--figure", "out/c.svg", "--figure", "out/c.png"]
    assert main(["compare", *cubes[::-1], "--fail-if", "slower > 5 %", *files]) == 4
    assert "1 points compared" in capsys.readouterr().out
    document = json.loads(Path("out/c.json").read_text(encoding="utf-8"))
    gate = document["summary"]["gate"]
    assert (gate["fail_if"], gate["regressions"], gate["judged"], gate["missing"]) == ("slower > 5 %", 1, 1, 3)
    assert [row["regression"] for row in document["rows"] if "regression" in row] == [True]
    (suite,) = ElementTree.parse("out/c.xml").getroot()
    assert (suite.attrib["failures"], suite.attrib["skipped"], suite.attrib["tests"]) == ("1", "3", "4")
    stamps = [read_stamp(Path(f"out/c.{suffix}")) for suffix in ("svg", "png")]
    assert stamps[0] == stamps[1]
    command = stamps[0]["command"]
    assert command == document["summary"]["command"]
    assert main(shlex.split(command)[2:]) == 4


def test_the_option_for_json_may_stand_before_a_and_b(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--json", *cubes]) == 0
    before = json.loads(capsys.readouterr().out)
    assert main(["compare", *cubes, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == before
    assert before["summary"]["a"]["asked"] == cubes[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["one.nc"], "two are compared, and only one is named"),
        (["--json", "c.json", "one.nc"], "two are compared, and only one is named"),
        (["one.nc", "two.nc", "--json", "c.txt"], "is no JSON file"),
        (["one.nc", "two.nc", "--figure", "c.jpg"], "allowed: .pdf, .svg, .png"),
    ],
)
def test_a_mistake_is_told_before_anything_is_read_or_written(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *words]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_points_can_be_ordered_by_how_much_slower_they_are(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tree = xr.open_datatree("results/campaigns/quick/one/cube.nc").load()
    values = tree["tuning"]["latency_launch_median"]
    values[{"message_bytes": 1}] = values[{"message_bytes": 1}] * 3
    tree.to_netcdf("slower.nc", engine="netcdf4")
    for order, expected in (("factors", ["1", "3", "1"]), ("ratio", ["3", "1", "1"])):
        assert main(["compare", cubes[0], "slower.nc", "--order", order, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert [f"{row['ratio']:.3g}" for row in rows] == expected


def test_a_damaged_baseline_hides_no_other_one(cubes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "save", "main", "quick@two"]) == 0
    BASELINES.joinpath("broken.json").write_text("{", encoding="utf-8")
    capsys.readouterr()
    assert main(["baseline", "list"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("main  quick on two")
    assert "left out: results/baselines/broken.json: this is no baseline" in said.err


def test_a_baseline_is_kept_listed_shown_and_compared_with(
    cubes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "list"]) == 0
    assert "no baseline in results/baselines" in capsys.readouterr().out
    assert main(["baseline", "save", "main", "quick@two"]) == 0
    assert "results/baselines/main.json: 2 of 3 points ok, 5 launches" in capsys.readouterr().out
    assert main(["baseline", "list"]) == 0
    assert "main  quick on two, 2 of 3 points ok, 5 launches" in capsys.readouterr().out
    assert main(["baseline", "list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["main"]
    assert main(["baseline", "show", "main"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"cpu_model +made up", said)
    assert re.search(r"MPI +tree 1.0", said)
    assert re.search(r"warmup +5", said)
    assert main(["baseline", "show", "main", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["campaign"] == "quick"
    assert main(["compare", "main", cubes[0], "--fail-if", "slower > 5 %"]) == 4
    assert "A: main, a baseline of quick on two, tree 1.0" in capsys.readouterr().out
    assert main(["baseline", "save", "main", "quick@two"]) == 2
    assert "there is a baseline of this name already" in capsys.readouterr().err
    assert main(["baseline", "save", "main", "quick@two", "--force"]) == 0
