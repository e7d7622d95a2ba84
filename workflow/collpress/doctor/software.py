"""Python and the locked packages. Uses the standard library and `packaging` only: others may be what is missing."""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from collpress.doctor.result import Result, ok, problem, skipped
from collpress.layout import ROOT

OLDEST = (3, 11)
LOCKED = ROOT / "envs" / "default.txt"
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\]+?))?\s*\\?$")
_SHOWN = 4
_SET_UP = "remove .venv and call ./run: it installs what envs/default.txt locks"


def python(found: tuple[int, int, int] = sys.version_info[:3]) -> Result:
    """The interpreter that runs this."""
    said = f"Python {'.'.join(map(str, found))} ({sys.executable})"
    if found[:2] < OLDEST:
        return problem("Python", said, f"use Python {OLDEST[0]}.{OLDEST[1]} or newer: PYTHON=/path/to/python3 ./run")
    return ok("Python", said)


def packages(locked: Path = LOCKED) -> Result:
    """Every package of a locked list is installed, in the version that was locked."""
    check = "locked packages"
    try:
        lines = locked.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        return skipped(check, f"{locked} cannot be read: {error.strerror}")
    if importlib.util.find_spec("packaging") is None:
        return problem(check, "packaging is not installed", _SET_UP)
    pins = [match for line in lines if (match := _PIN.match(line)) and _applies(match["marker"])]
    if not pins:
        return skipped(check, f"{locked} locks nothing")
    wrong = [words for pin in pins if (words := _complaint(pin["name"], pin["version"]))]
    if wrong:
        more = f", and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        return problem(check, "; ".join(wrong[:_SHOWN]) + more, _SET_UP)
    return ok(
        check, f"all {len(pins)} as locked in {locked.relative_to(ROOT) if locked.is_relative_to(ROOT) else locked}"
    )


def _applies(marker: str | None) -> bool:
    from packaging.markers import Marker

    return marker is None or Marker(marker).evaluate()


def _complaint(name: str, wanted: str) -> str:
    try:
        found = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    return f"{name} is {found}, locked is {wanted}" if found != wanted else ""
