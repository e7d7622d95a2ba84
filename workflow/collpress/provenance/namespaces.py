"""Whether this process may make hosts of this machine, or throttle a loopback: namespaces, and the programs for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

INTERFACE = "net0"
"""The link's end, called the same in both hosts."""
PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "hostname": "hostname",
}
"""What is called, and the Debian package that holds it."""
MEDIA = {"namespaces": "a link, its rate in each direction", "loopback": "loopback, shared by both directions"}
"""What ranks talk over, by the kind of hosts: an exchange over a shared loopback gets half of its rate."""
UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--uts")
"""Namespaces that need no root: in them this process is root, and sees a loopback of its own."""
_ADMINISTRATION = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}


def namespaces_lack(status: Path = Path("/proc/self/status")) -> str | None:
    """What is missing, and how to get it; None where nothing is."""
    if absent := _absent():
        return f"two hosts on one machine need {absent}"
    granted = _capabilities(status)
    refused = [name for name, bit in _ADMINISTRATION.items() if not granted >> bit & 1]
    if refused:
        return (
            f"two hosts on one machine need {' and '.join(refused)}: run as root "
            "(in a container: docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN)"
        )
    return None


def loopback_lack() -> str | None:
    """What a throttled loopback lacks, and how to get it; None where a user namespace can be made, as is tried."""
    if absent := _absent():
        return f"a throttled loopback needs {absent}"
    done = subprocess.run(
        [*UNSHARE, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0:
        return None
    said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    return (
        f"a throttled loopback needs user namespaces, and the system refuses them ({said.replace(': ', ', ')}): let "
        "sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone and "
        "kernel.apparmor_restrict_unprivileged_userns allow them (in a container: "
        "docker run --security-opt seccomp=unconfined)"
    )


def hosts_lack(kind: str | None) -> str | None:
    """What is missing for the hosts of this kind (`namespaces`, `loopback`; None: a platform that asks for none)."""
    return {"namespaces": namespaces_lack, "loopback": loopback_lack}[kind]() if kind else None


def _absent() -> str | None:
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if not absent:
        return None
    packages = " ".join(sorted({PROGRAMS[name] for name in absent}))
    return f"{', '.join(absent)}: install {packages}"


def _capabilities(status: Path) -> int:
    """The effective capabilities of this process, a bit each; none where the system does not say."""
    try:
        lines = status.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
