"""The native core for tests: built once, started on plans, its journal read strictly."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

NATIVE = Path(__file__).resolve().parents[2] / "native"
MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
LAUNCHER = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
)
OPEN_MPI = ("--oversubscribe", "--bind-to", "none")
HYDRA = ("-launcher", "fork", "-rmk", "user", "-bind-to", "none")
Entry = dict[str, str]


def tool(name: str) -> str:
    """Path of a program of this Python's environment, else of the PATH."""
    path = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert path is not None, f"{name} is not installed"
    return path


def environment(**extra: str) -> dict[str, str]:
    """The environment for launches: root may, ranks yield when there are more of them than CPUs."""
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ.get("PATH", "")])
    allowed = dict.fromkeys(LAUNCHER, "1")
    quick_start = {"OMPI_MCA_btl": "^ofi"}  # a component that nobody asks for, and that takes a second to start
    return {**os.environ, "PATH": path, "OMPI_MCA_mpi_yield_when_idle": "1", **quick_start, **allowed, **extra}


def cmake_build(
    build: Path,
    *definitions: str,
    source: Path = NATIVE,
    compiler: Path | None = None,
    targets: Iterable[str] = (),
    **extra: str,
) -> None:
    """Configure and build `source` into `build`, everything or some targets; fails with the tools' output."""
    command = [
        tool("cmake"),
        "-S",
        str(source),
        "-B",
        str(build),
        "-G",
        "Ninja",
        f"-DCMAKE_CXX_COMPILER={compiler or tool('mpicxx')}",
    ]
    chosen = ["--target", *targets] if targets else []
    for step in ([*command, *definitions], [tool("cmake"), "--build", str(build), *chosen]):
        done = subprocess.run(
            step, env=environment(**extra), capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def key_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8")).hexdigest()[:32]


def plan_text(entries: Iterable[Mapping[str, str]]) -> str:
    """The plan file of these points; what a point leaves out has a default that suits tests."""
    lines = ["collpress-plan\t1"]
    for entry in entries:
        lines.append("\t".join(f"{key}={quote(value, safe='._:/+-')}" for key, value in entry.items()))
    return "\n".join(lines) + "\n"


def point(**changes: object) -> Entry:
    """A point's plan line, quick to measure. Give `None` to drop an entry."""
    entry: dict[str, object] = {
        "collective": "allreduce",
        "algorithm": "library:default",
        "dtype": "float32",
        "op": "sum",
        "message_bytes": 256,
        "data": "pattern",
        "warmup": 1,
        "min_iterations": 3,
        "max_iterations": 6,
        "precision": 0.05,
        "at_most": 5,
        "instrumented": 2,
    }
    entry.update(changes)
    text = {key: str(value) for key, value in entry.items() if value is not None}
    identity = key_of(sorted(text.items()))
    return {"key": identity, "id": identity, **text}


@dataclass(frozen=True)
class Outcome:
    """How a launch ended: exit code, journal lines in order, and what was printed."""

    code: int
    lines: list[dict[str, Any]]
    errors: str

    def record(self, entry: Entry) -> dict[str, Any]:
        (found,) = [line for line in self.lines if line["kind"] == "record" and line["key"] == entry["key"]]
        return found

    def records(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["kind"] == "record"]


def strict_json(text: str) -> dict[str, Any]:
    """Parse one line; NaN, Infinity and repeated keys are faults."""

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), f"repeated keys in {text}"
        return dict(pairs)

    value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    assert isinstance(value, dict)
    return value


USUAL_SETTINGS = {"int8": {"codec_parameters": "128 0 0 1"}}
"""Of codecs that have settings, as a plan would give them."""


class Core:
    """A built core and its plugins, and how ranks of it are started: Open MPI's mpiexec unless another is given."""

    def __init__(self, build: Path, mpiexec: tuple[str, ...] = ()) -> None:
        self.build = build
        self.mpiexec = mpiexec or (tool("mpiexec"), *OPEN_MPI)
        self.program = build / "collpress-core"

    def reference(self, name: str, **changes: object) -> Entry:
        plugin = self.build / "plugins/reference/allreduce" / f"{name}.so"
        return point(**{"algorithm": f"reference:{name}", "plugin": plugin, **changes})

    def compressed(self, codec: str, codec_plugin: Path, **changes: object) -> Entry:
        plugin = self.build / "plugins/compressed/allreduce/ring.so"
        compressed = {"algorithm": "compressed:ring", "plugin": plugin, "codec": codec, "codec_plugin": codec_plugin}
        return point(**{**compressed, **USUAL_SETTINGS.get(codec, {}), **changes})

    def schedule(self, plugin: Path, ranks: int, count: int, *options: object) -> dict[str, Any]:
        """What an algorithm sends to whom in one call, without MPI."""
        done = self.call("--schedule", plugin, "--ranks", ranks, "--count", count, *options)
        assert done.returncode == 0, done.stderr
        return strict_json(done.stdout)

    def checked_calls(self, plugin: Path, ranks: int) -> list[dict[str, Any]]:
        """The core's verdicts on calls of an algorithm on 1 rank, 2, ... up to `ranks`."""
        done = self.call("--check", plugin, "--ranks", ranks)
        assert done.returncode == 0, done.stderr
        return list(strict_json(done.stdout)["calls"])

    def call(
        self, *arguments: object, address_space: int | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """The core as one process, in at most `address_space` bytes."""
        command = [str(self.program), *(str(argument) for argument in arguments)]
        if address_space is not None:
            command = ["sh", "-c", f'ulimit -v {address_space // 1024} && exec "$@"', "sh", *command]
        return subprocess.run(
            command, env=environment(**extra), capture_output=True, text=True, encoding="utf-8", check=False, timeout=60
        )

    def launch(
        self,
        folder: Path,
        ranks: int,
        plan: Iterable[Mapping[str, str]] | str,
        *options: object,
        claimed_ranks: int | None = None,
        seed: int = 1,
        launch: int = 0,
        address_space_of_rank_1: int | None = None,
        **extra: str,
    ) -> Outcome:
        """One launch under mpiexec with the journal in `folder`; rank 1 in at most so many bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        plan_file, journal = folder / "plan.tsv", folder / "journal.jsonl"
        plan_file.write_text(plan if isinstance(plan, str) else plan_text(plan), encoding="utf-8")
        arguments: list[object] = [
            "--plan",
            plan_file,
            "--journal",
            journal,
            "--launch",
            launch,
            "--attempt",
            1,
            "--seed",
            seed,
        ]
        arguments += ["--ranks", claimed_ranks or ranks, *options]
        wrapper: tuple[str, ...] = ()
        if address_space_of_rank_1 is not None:
            limit = f'[ "$OMPI_COMM_WORLD_RANK" != 1 ] || ulimit -v {address_space_of_rank_1 // 1024}'
            wrapper = ("sh", "-c", f'{limit}; exec "$@"', "sh")
        done = self.program_on_ranks(ranks, "collpress-core", *arguments, wrapper=wrapper, **extra)
        text = journal.read_text(encoding="utf-8") if journal.exists() else ""
        assert text == "" or text.endswith("\n")
        return Outcome(done.returncode, [strict_json(line) for line in text.splitlines()], done.stderr)

    def program_on_ranks(
        self, ranks: int, program: str, *arguments: object, wrapper: tuple[str, ...] = (), **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """A program of the build under mpiexec, each rank started by the wrapper."""
        command = [*self.mpiexec, "-n", str(ranks), *wrapper, str(self.build / program)]
        command += [str(argument) for argument in arguments]
        return subprocess.run(
            command,
            env=environment(**extra),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=300,
        )
