"""Our times beside those of the OSU Micro-Benchmarks and the Intel MPI Benchmarks, in alternating launches.

Both are built by whoever has them: give the folder that holds osu_allreduce (c/mpi/collective/blocking of a built tree)
and the program IMB-MPI1, compiled with the wrapper of the platform's MPI. 2 ranks, 8 B to 64 KiB. What is compared is
the mean over ranks of the mean time, which all three know; of each the smallest of the launches: on a machine that
others use, too, nothing else repeats. A ratio is ours over theirs.

example: ./run bench agreement --omb ~/omb/c/mpi/collective/blocking --imb ~/imb/IMB-MPI1
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _batches import answer, arguments, batch, journal_of, sound

from collpress.errors import CollpressError
from collpress.execute.launcher import Launcher, session
from collpress.layout import build_record
from collpress.plan.built import find_mpiexec, read_build
from collpress.plan.launch import launch_of
from collpress.plan.machine import this_machine
from collpress.spec import load_platform

RANKS = 2
SIZES = (8, 32, 128, 512, 2048, 8192, 32768, 65536)
COLLECTIVES = {"allreduce": ("osu_allreduce", "Allreduce"), "bcast": ("osu_bcast", "Bcast")}
"""Collective -> OMB's program, IMB's benchmark."""
# Fewer let a single pause of the machine decide a mean, and IMB does not warm up.
ITERATIONS = "20000"
LIMITS = {
    "min_iterations": ITERATIONS,
    "max_iterations": ITERATIONS,
    "precision": "0.05",
    "at_most": "10",
    "warmup": "200",
}
OMB_OPTIONS = ("-i", ITERATIONS, "-x", "200", "-m")
IMB_OPTIONS = ("-npmin", "2", "-iter", ITERATIONS, "-iter_policy", "off", "-msglog", "3:16")


def ours(platform: str) -> dict[tuple[str, int], float]:
    """Mean over ranks of the mean time, s, of one launch, and by collective and size."""
    lines = [
        {
            "collective": collective,
            "algorithm": "library:default",
            "message_bytes": str(size),
            "sync": "barrier",
            **LIMITS,
        }
        for collective in COLLECTIVES
        for size in SIZES
    ]
    with journal_of(batch(platform, lines, RANKS)) as journal:
        records = sound(journal)
    return {
        (str((r.requested or {})["collective"]), int(r.message_bytes or 0)): float(r.mean_over_ranks_s or 0.0)
        for r in records
    }


def omb(text: str) -> dict[int, float]:
    """Average latency, s, by size."""
    pairs = re.findall(r"^(\d+)\s+([\d.]+)", text, re.MULTILINE)
    return {int(size): float(latency) * 1e-6 for size, latency in pairs}


def imb(text: str) -> dict[int, float]:
    """t_avg, s, by size."""
    rows = re.findall(r"^\s+(\d+)\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s*$", text, re.MULTILINE)
    return {int(size): float(average) * 1e-6 for size, average in rows}


class Others:
    """Starts the other benchmarks as the platform starts the core: the same launcher, binding and environment."""

    def __init__(self, platform: str) -> None:
        build = read_build(build_record(platform))
        launch = launch_of(load_platform(platform), this_machine(), RANKS)
        kind = build["mpi"].get("kind", "openmpi")
        mpiexec = find_mpiexec(build["mpi"]["wrapper"])
        self.launcher = Launcher(mpiexec, RANKS, launch.binding, launch.environment, kind)

    def run(self, program: Path, *options: str) -> str:
        with session() as folders:
            command = self.launcher.command(program, list(options))
            done = subprocess.run(
                command, env=self.launcher.variables(folders), capture_output=True, encoding="utf-8", check=False
            )
        if done.returncode != 0:
            raise CollpressError(f"{program.name} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout


def rows_of(platform: str, omb_folder: Path, imb_program: Path, launches: int) -> list[dict[str, Any]]:
    others = Others(platform)
    least: dict[tuple[str, str, int], float] = {}

    def keep(who: str, collective: str, times: dict[int, float]) -> None:
        for size in SIZES:
            if size not in times:
                raise CollpressError(f"{who} gives no time of {collective} with {size} bytes")
            place = (who, collective, size)
            least[place] = min(times[size], least.get(place, times[size]))

    for _ in range(launches):
        own = ours(platform)
        for collective, (program, benchmark) in COLLECTIVES.items():
            keep("ours", collective, {size: time for (c, size), time in own.items() if c == collective})
            sizes = f"{SIZES[0]}:{SIZES[-1]}"
            keep("omb", collective, omb(others.run(omb_folder / program, *OMB_OPTIONS, sizes)))
            keep("imb", collective, imb(others.run(imb_program, benchmark, *IMB_OPTIONS)))
    return [
        {
            "collective": collective,
            "message_bytes": size,
            **{f"{who}_s": least[who, collective, size] for who in ("ours", "omb", "imb")},
            **{f"over_{who}": least["ours", collective, size] / least[who, collective, size] for who in ("omb", "imb")},
        }
        for collective in COLLECTIVES
        for size in SIZES
    ]


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'collective':<12}{'bytes':>8}{'ours':>10}{'OMB':>10}{'IMB':>10}{'/ OMB':>8}{'/ IMB':>8}"]
    for row in rows:
        times = "".join(f"{row[f'{who}_s'] * 1e6:>10.2f}" for who in ("ours", "omb", "imb"))
        ratios = "".join(f"{row[f'over_{who}']:>8.2f}" for who in ("omb", "imb"))
        lines.append(f"{row['collective']:<12}{row['message_bytes']:>8}{times}{ratios}")
    return "\n".join([*lines, "", "times in us: mean over ranks of the mean, the smallest launch"])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--omb", type=Path, required=True, help="folder with osu_allreduce and osu_bcast")
    parser.add_argument("--imb", type=Path, required=True, help="the program IMB-MPI1")
    parser.add_argument("--launches", type=int, default=7, help="launches of each, alternating (default: 7)")
    args = parser.parse_args()

    def measured() -> tuple[list[dict[str, Any]], dict[str, Any]]:
        rows = rows_of(args.platform, args.omb, args.imb, args.launches)
        ratios = [row[name] for row in rows for name in ("over_omb", "over_imb")]
        return rows, {
            "smallest_ratio": min(ratios),
            "largest_ratio": max(ratios),
            "launches": args.launches,
            "mpi": read_build(build_record(args.platform))["mpi"]["version"],
            "utc": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    return answer("agreement", args.json, measured, table)


if __name__ == "__main__":
    raise SystemExit(main())
