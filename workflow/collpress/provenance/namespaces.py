"""Whether this process may make hosts of this machine: network namespaces, and the programs that do it."""

from __future__ import annotations

import shutil
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
_ADMINISTRATION = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}


def namespaces_lack(status: Path = Path("/proc/self/status")) -> str | None:
    """What is missing, and how to get it; None where nothing is."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        packages = " ".join(sorted({PROGRAMS[name] for name in absent}))
        return f"two hosts on one machine need {', '.join(absent)}: install {packages}"
    granted = _capabilities(status)
    refused = [name for name, bit in _ADMINISTRATION.items() if not granted >> bit & 1]
    if refused:
        return (
            f"two hosts on one machine need {' and '.join(refused)}: run as root "
            "(in a container: docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN)"
        )
    return None


def _capabilities(status: Path) -> int:
    """The effective capabilities of this process, a bit each; none where the system does not say."""
    try:
        lines = status.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
