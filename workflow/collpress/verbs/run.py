"""Run a campaign on a platform: data, build, sweep, cube, figures; only what is missing or has changed.

Holds the lock of this campaign on this platform, lets points run again that should have run but did not, then calls
Snakemake. A dataset that cannot be had fails its own points; all others are measured. Exit code 0: every planned point
is ok or unsupported; 3: a point that should have run did not (see `collpress status`).

example: collpress run quick --platform local
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from collpress.errors import CollpressError, IncompleteError
from collpress.execute.build import broken_plugins
from collpress.execute.lock import run_lock
from collpress.execute.processes import dies_with_parent
from collpress.execute.status import coverage, retire_incomplete_receipts, summarise
from collpress.layout import DATA, RESULTS, ROOT, Places
from collpress.wiring import Wiring


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", help="name of a file in config/campaigns, without .yaml")
    parser.add_argument("--platform", default="local", help="name of a file in config/platforms (default: local)")
    parser.add_argument("--profile", default="local", help="name of a folder in config/profiles (default: local)")
    parser.add_argument("snakemake", nargs="*", help="arguments passed on to Snakemake (after --)")


def run(args: argparse.Namespace) -> int:
    # A mistake in a file is told at once, and by us: Snakemake would add its own words to it.
    wiring = Wiring(args.campaign, args.platform)
    wiring.figures()
    wiring.plugin_sources()
    places = wiring.places
    # Snakemake allows one run in a folder, and measuring runs must not share the machine anyhow.
    with run_lock(RESULTS, what="a run is at work in this checkout already"), run_lock(places.directory):
        retire_incomplete_receipts(places.directory)
        complete = _snakemake(args, [])
        missing = [] if complete else _datasets_not_had(wiring)
        if missing:
            names = ", ".join(missing)
            print(f"going on without {names}: its points fail, all others are measured", file=sys.stderr)
            complete = _snakemake(args, missing)
    if broken := broken_plugins(places.plugins):
        print(f"broken plugins: {'; '.join(broken)}", file=sys.stderr)
    if complete:
        print(f"complete: {summarise(places.directory)}\nfigures: {places.directory / 'figures'}")
        return 0
    raise _incomplete(places, f"--platform {args.platform}" if args.platform != "local" else "")


def _snakemake(args: argparse.Namespace, without: list[str]) -> bool:
    profile = ["--workflow-profile", f"config/profiles/{args.profile}"]
    config = ["--config", f"campaign={args.campaign}", f"platform={args.platform}", f"without={','.join(without)}"]
    command = [sys.executable, "-m", "snakemake", *profile, "--quiet=all", *args.snakemake, *config]
    return subprocess.run(command, cwd=ROOT, preexec_fn=dies_with_parent()).returncode == 0


def _datasets_not_had(wiring: Wiring) -> list[str]:
    sidecars = [Path(path) for path in wiring.datasets() if not Path(path).exists()]
    return [path.relative_to(DATA).with_suffix("").as_posix() for path in sidecars]


def _incomplete(places: Places, platform: str) -> CollpressError:
    """Why the run is not complete: points that should be ok and are not, or a step that failed."""
    measured = places.points.exists()
    if measured and coverage(places.directory).incomplete():
        return IncompleteError(
            f"not complete: {summarise(places.directory)}",
            fix=f"./run collpress status {places.campaign} {platform}".rstrip() + " tells why; then run again",
        )
    kept = "; what was measured before is kept" if measured else " before anything was measured"
    return CollpressError(f"the workflow stopped{kept}{_last_words()}", fix="mend what is said above, then run again")


def _last_words() -> str:
    """The errors in Snakemake's newest log: it is told to be quiet, but an error of its own must be heard."""
    logs = sorted((ROOT / ".snakemake" / "log").glob("*.log"), key=lambda path: path.stat().st_mtime_ns)
    lines = logs[-1].read_text(encoding="utf-8", errors="replace").splitlines() if logs else []
    errors = [line.strip() for line in lines if "Error" in line or "Exception" in line]
    return (
        "".join(f"\n    {line}" for line in [*errors[-3:], f"(all of it: {logs[-1].relative_to(ROOT)})"])
        if logs
        else ""
    )
