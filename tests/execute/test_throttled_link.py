"""A link that compression matters on: its rate is kept or nothing is a number, and nothing of it outlives its run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from required import skip_unless_required
from stand_in_campaign import StandIn, key

from collpress.errors import CollpressError
from collpress.execute import loopback, supervisor
from collpress.execute.batch import Batch
from collpress.execute.hosts import made_hosts
from collpress.execute.link import Link, judge
from collpress.execute.loopback import NAME, Loopback, throttled_loopback
from collpress.execute.namespaces import MTU, NAMESPACES, burst
from collpress.execute.processes import start_time
from collpress.execute.supervisor import sweep
from collpress.layout import ROOT
from collpress.plan.launch import launch_of
from collpress.plan.machine import this_machine
from collpress.provenance.namespaces import MEDIA, loopback_lack, namespaces_lack
from collpress.records import Status, read_campaign
from collpress.spec import load_platform
from collpress.spec.platform import LARGEST_RATE, LEAST_RATE

THROTTLED = {"throttled-1g": 10**9, "throttled-2g5": 25 * 10**8, "throttled-10g": 10**10}
SHARED = "loopback, shared by both directions"


@pytest.fixture
def namespaces() -> None:
    if lack := namespaces_lack():
        skip_unless_required("namespaces", lack)


@pytest.fixture
def user_namespaces() -> None:
    if lack := loopback_lack():
        skip_unless_required("user-namespaces", lack)


@pytest.mark.parametrize(("name", "rate"), THROTTLED.items())
def test_the_platforms_of_the_house_throttle_a_link_between_one_or_two_ranks_a_side(name: str, rate: int) -> None:
    platform = load_platform(ROOT / f"config/platforms/{name}.yaml")
    launch = launch_of(platform, this_machine(), 1, nodes=2)
    assert launch.hosts is not None
    assert launch.hosts.as_json() == {"kind": "namespaces", "rate": rate}
    assert (platform.limits.nodes, platform.limits.ranks_per_node) == (2, 2)
    assert launch.environment["OMPI_MCA_btl_tcp_sndbuf"] == "131072"


def test_over_a_loopback_ranks_have_no_shared_memory_and_are_bound_as_on_one_host() -> None:
    platform = load_platform(ROOT / "config/platforms/throttled-loopback-1g.yaml")
    launch = launch_of(platform, this_machine(), 1)
    plain = launch_of(load_platform(ROOT / "config/platforms/local.yaml"), this_machine(), 1)
    assert launch.hosts is not None
    assert launch.hosts.as_json() == {"kind": "loopback", "rate": 10**9}
    assert (launch.environment["OMPI_MCA_btl"], launch.environment["OMPI_MCA_btl_tcp_if_include"]) == ("tcp,self", "lo")
    assert launch.binding == plain.binding
    assert SHARED in platform.title + str(platform.description) + MEDIA["loopback"]
    assert "shared by both directions" in platform.title


@pytest.mark.parametrize("rate", [LEAST_RATE, *THROTTLED.values(), LARGEST_RATE])
def test_a_packet_fits_into_the_bucket_of_every_rate(rate: int) -> None:
    assert burst(rate) >= 2 * MTU, "what does not fit is dropped, for good"


class Nowhere(Loopback):
    """A loopback that nothing is started in: the stand-ins need none."""

    def prefix(self) -> list[str]:
        return []


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The rates that pingpongs find from now on, in bit/s: as many as are put into it."""
    found: list[float] = []

    def measured(launcher: Any, core: Path, session: Any, rate: int) -> Link:
        return judge(rate, 4 << 20, 2 * 8 * (4 << 20) / found.pop(0))

    @contextmanager
    def made(kind: str, rate: int) -> Iterator[Loopback]:
        yield Nowhere(0, rate)

    monkeypatch.setattr(supervisor, "measure_link", measured)
    monkeypatch.setattr(supervisor, "made_hosts", made)
    return found


@pytest.mark.parametrize("share", [0.93, 1.04])
def test_on_a_link_off_its_rate_no_point_is_a_number_and_the_next_run_tries_again(
    stand_in: StandIn, links: list[float], share: float
) -> None:
    stand_in.plan("ok", "ok", launches=2, hosts={"kind": "loopback", "rate": 10**9})
    links.extend([share * 1e9, 0.98e9])
    stand_in.sweep()
    assert stand_in.statuses() == ["invalid"] * 2
    [reason] = {record.reason for record in stand_in.journals().records.values()}
    assert f"({SHARED}) gives {share * 1000:.0f} Mbit/s, which is not within 3% of 1000" in str(reason)
    assert all(record.time_s is None for record in stand_in.journals().records.values())
    stand_in.sweep()
    assert stand_in.statuses() == ["ok"] * 2
    told = [json.loads((stand_in.own / f"provenance-{n}.json").read_text(encoding="utf-8")) for n in (1, 2)]
    assert [t["launch"]["hosts"]["link"]["verdict"] for t in told] == ["missed", "met"]
    assert {t["launch"]["hosts"]["medium"] for t in told} == {SHARED}


def test_a_result_that_the_core_finds_wrong_stays_invalid(stand_in: StandIn, links: list[float]) -> None:
    """The counterpart: only what a link made invalid is tried again."""
    stand_in.plan("wrong", hosts={"kind": "loopback", "rate": 10**9})
    links.extend([1e9, 1e9])
    stand_in.sweep()
    before = stand_in.written()
    stand_in.sweep()
    assert (stand_in.statuses(), stand_in.written()) == (["invalid"], before)


def test_the_missed_link_is_invalid_for_every_launch(stand_in: StandIn, links: list[float]) -> None:
    stand_in.plan("ok", launches=3, hosts={"kind": "loopback", "rate": 10**9})
    links.append(5e8)
    stand_in.sweep()
    assert stand_in.written(Status.INVALID) == {(key(0), launch): 1 for launch in range(3)}


@pytest.mark.usefixtures("user_namespaces")
def test_a_campaign_runs_over_a_throttled_loopback_and_says_what_that_is(
    project: dict[str, Any], tmp_path: Path
) -> None:
    platform, rate = load_platform(ROOT / "config/platforms/throttled-loopback-1g.yaml"), 10**9
    swept = sweep(_loopback_batch(project, launch_of(platform, this_machine(), 2)), tmp_path)
    told = json.loads((tmp_path / "batches/bus/provenance-1.json").read_text(encoding="utf-8"))["launch"]["hosts"]
    assert (told["kind"], told["medium"], told["names"], told["rate"]) == ("loopback", SHARED, [NAME], rate)
    assert told["link"]["measured"] < 1.2 * rate  # a bucket bounds it from above, whatever else runs here
    status = swept.journals.status("0" * 32, 1)
    if told["link"]["verdict"] == "missed":
        assert status.status == Status.INVALID
        return
    assert status.status == Status.OK
    assert read_campaign(tmp_path).launches[0].hosts == [NAME, NAME]
    [record] = swept.journals.records.values()
    assert record.time_s is not None
    # Both directions together: an exchange of n bytes each way takes 2 n, up to what the bucket lets through at once.
    assert record.time_s.median > 0.9 * 8 * (2 * (1 << 20) - burst(rate)) / rate


def _loopback_batch(project: dict[str, Any], launch: Any) -> Batch:
    line = {"collective": "allreduce", "algorithm": "library:ring", "bound": "none", "dtype": "float32", "op": "sum"}
    line |= {"message_bytes": str(1 << 20), "data": "pattern", "warmup": "2", "min_iterations": "3"}
    line |= {"max_iterations": "5", "precision": "0.5", "at_most": "1.0", "instrumented": "0"}
    index = {"schema": 1, "batch": "bus", "campaign": "c", "platform": "p", "digest": "d", "nodes": 1, "ranks": 2}
    index |= {"launches": 1, "seed": 1, "launcher": "mpiexec", "oversubscribed": launch.oversubscribed}
    index |= {"binding": launch.binding, "environment": launch.environment, "hosts": launch.hosts.as_json()}
    index |= {"samples": "none", "core": str(ROOT / project["core"]["path"])}
    index |= {"build": str(ROOT / "results/native/local/build.json")}
    return Batch.model_validate(
        index | {"points": [{"key": "0" * 32, "id": "0" * 32, "experiment": "e", "line": line}]}
    )


MAKES_HOSTS = """
import sys, time
from collpress.execute.hosts import made_hosts
with made_hosts(sys.argv[1], 10**9) as made:
    print(*made.names, getattr(made, "holder", ""), flush=True)
    time.sleep(60)
"""


@contextmanager
def _another_run(kind: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A process that has made hosts, and what it says of them; it is killed at the end at the latest."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-c", MAKES_HOSTS, kind]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()
        finally:
            process.kill()


def _in_time(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return true()


@pytest.mark.usefixtures("namespaces")
def test_hosts_are_gone_soon_after_a_run_was_killed() -> None:
    with _another_run("namespaces") as (process, names):
        assert all((NAMESPACES / name).exists() for name in names)
        assert len(names) == 2
        os.kill(process.pid, signal.SIGKILL)
        assert _in_time(lambda: not any((NAMESPACES / name).exists() for name in names))


@pytest.mark.usefixtures("user_namespaces")
def test_a_throttled_loopback_is_gone_soon_after_a_run_was_killed() -> None:
    with _another_run("loopback") as (process, [_, holder]):
        assert start_time(int(holder)) is not None
        os.kill(process.pid, signal.SIGKILL)
        assert _in_time(lambda: start_time(int(holder)) is None)


@pytest.mark.usefixtures("user_namespaces")
def test_the_loopback_of_this_machine_is_left_alone() -> None:
    def seen(prefix: list[str]) -> str:
        return subprocess.run([*prefix, "tc", "qdisc", "show", "dev", "lo"], capture_output=True, text=True).stdout

    before = seen([])
    with throttled_loopback(10**9) as made:
        assert "tbf" in seen(made.prefix())
        assert "rate 1Gbit" in seen(made.prefix())
        assert seen([]) == before


@pytest.mark.parametrize(
    "lack", ["a throttled loopback needs user namespaces, and the system refuses them: allow them"]
)
def test_where_the_system_refuses_nothing_is_made(monkeypatch: pytest.MonkeyPatch, lack: str) -> None:
    monkeypatch.setattr(loopback, "loopback_lack", lambda: lack)
    with (
        pytest.raises(CollpressError, match="the system refuses them\n  fix: allow them"),
        made_hosts("loopback", 10**9),
    ):
        pytest.fail("it was made")


@pytest.mark.usefixtures("user_namespaces")
def test_a_bucket_that_the_system_has_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "bucket", lambda rate: ("no-such-qdisc",))
    with (
        pytest.raises(CollpressError, match="this machine's loopback cannot be throttled: "),
        throttled_loopback(10**9),
    ):
        pytest.fail("it was made")
