"""What the doctor says of the two hosts that a platform makes of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from required import skip_unless_required

from collpress.doctor import hosts as module
from collpress.doctor.hosts import hosts
from collpress.errors import CollpressError
from collpress.execute.namespaces import NAMESPACES
from collpress.layout import ROOT
from collpress.provenance.namespaces import loopback_lack, namespaces_lack
from collpress.spec import Platform, load_platform, platform_text


def two_hosts(rate: str = "none") -> Platform:
    text = (ROOT / "config/platforms/two-hosts.yaml").read_text(encoding="utf-8")
    assert "rate: none" in text
    return platform_text(text.replace("rate: none", f"rate: {rate}"), "two-hosts.yaml")


def test_a_platform_of_one_host_is_asked_nothing() -> None:
    assert list(hosts(load_platform(ROOT / "config/platforms/local.yaml"))) == []


@pytest.mark.parametrize(("rate", "told"), [("none", "no limit"), ("2.5 Gbit/s", "2500 Mbit/s")])
def test_where_it_is_allowed_they_are_made_and_nothing_of_them_stays(rate: str, told: str) -> None:
    if lack := namespaces_lack():
        skip_unless_required("namespaces", lack)
    before = set(NAMESPACES.glob("collpress-*"))
    [result] = hosts(two_hosts(rate))
    assert (result.check, result.verdict) == ("two hosts", "ok")
    assert result.found.endswith(f"the link with {told}")
    assert not set(NAMESPACES.glob("collpress-*")) - before


def test_what_is_missing_is_a_problem_with_its_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    [result] = hosts(two_hosts())
    assert (result.verdict, result.found) == (
        "problem",
        "two hosts on one machine need ip, tc, nsenter, unshare, hostname",
    )
    assert result.fix == "install hostname iproute2 util-linux"


def test_what_the_system_refuses_is_a_problem_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(kind: str, rate: int | None) -> None:
        raise CollpressError("two hosts cannot be made of this machine: no veth", fix="see docs/platforms.md")

    monkeypatch.setattr(module, "made_hosts", refused)
    [result] = hosts(two_hosts())
    assert (result.verdict, result.found, result.fix) == (
        "problem",
        "two hosts cannot be made of this machine: no veth",
        "see docs/platforms.md",
    )


def test_a_throttled_loopback_is_called_a_shared_one() -> None:
    if lack := loopback_lack():
        skip_unless_required("user-namespaces", lack)
    [result] = hosts(load_platform(ROOT / "config/platforms/throttled-loopback-1g.yaml"))
    assert (result.check, result.verdict) == ("throttled loopback", "ok")
    assert result.found == "made and removed: collpress-loopback, loopback, shared by both directions, 1000 Mbit/s"
