"""Whether two hosts may be made of this machine: what is missing is named, with how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from collpress.provenance.namespaces import PROGRAMS, hosts_lack, loopback_lack, namespaces_lack

NET_ADMIN, SYS_ADMIN = 1 << 12, 1 << 21


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is searched, and holds all that is needed."""
    folder = tmp_path / "the programs"
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def status(folder: Path, effective: int) -> Path:
    """What /proc says of a process that has these capabilities; all others could be had, which does not count."""
    path = folder.parent / "status"
    path.write_text(f"Name:\tx\nCapPrm:\t{2**40 - 1:016x}\nCapEff:\t{effective:016x}\n", encoding="utf-8")
    return path


def test_with_the_programs_and_both_capabilities_nothing_is_missing(programs: Path) -> None:
    assert namespaces_lack(status(programs, NET_ADMIN | SYS_ADMIN)) is None


@pytest.mark.parametrize(
    ("effective", "missing"),
    [(0, "CAP_NET_ADMIN and CAP_SYS_ADMIN"), (SYS_ADMIN, "CAP_NET_ADMIN"), (NET_ADMIN, "CAP_SYS_ADMIN")],
)
def test_a_missing_capability_is_named_with_how_to_get_it(programs: Path, effective: int, missing: str) -> None:
    assert namespaces_lack(status(programs, effective)) == (
        f"two hosts on one machine need {missing}: run as root "
        "(in a container: docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN)"
    )


def test_a_system_that_does_not_say_grants_nothing(programs: Path) -> None:
    assert "CAP_NET_ADMIN and CAP_SYS_ADMIN" in str(namespaces_lack(programs.parent / "no such file"))


def test_missing_programs_are_named_with_the_packages_that_hold_them(programs: Path) -> None:
    for name in ("ip", "tc", "unshare"):
        (programs / name).unlink()
    assert namespaces_lack(status(programs, 0)) == (
        "two hosts on one machine need ip, tc, unshare: install iproute2 util-linux"
    )


def test_a_loopback_asks_for_a_user_namespace_and_for_no_capability(programs: Path) -> None:
    assert loopback_lack() is None
    refusing = programs / "unshare"
    refusing.write_text(
        "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n", encoding="utf-8"
    )
    told = str(loopback_lack())
    assert told.startswith(
        "a throttled loopback needs user namespaces, and the system refuses them "
        "(unshare, unshare failed, Operation not permitted): let sysctl user.max_user_namespaces"
    )
    assert "docker run --security-opt seccomp=unconfined" in told


def test_a_loopback_needs_the_same_programs(programs: Path) -> None:
    (programs / "tc").unlink()
    assert loopback_lack() == "a throttled loopback needs tc: install iproute2"


def test_a_platform_that_asks_for_no_hosts_lacks_nothing(programs: Path) -> None:
    (programs / "ip").unlink()
    assert hosts_lack(None) is None
    assert [str(hosts_lack(kind)).partition(" need")[0] for kind in ("namespaces", "loopback")] == [
        "two hosts on one machine",
        "a throttled loopback",
    ]
