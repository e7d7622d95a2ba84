"""Open MPI 4.1, where it is installed (Debian: openmpi-bin, libopenmpi-dev): it chooses by the same variables as Open
MPI 5, but reads once, when it starts, whether they count at all."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest
from native_core import NATIVE, OPEN_MPI, Core, cmake_build, point
from required import skip_unless_required
from test_proof import prove, verdicts

PREFIX = Path(os.environ.get("COLLPRESS_OPENMPI_41", "/usr"))
RULES = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}


def is_there() -> bool:
    wrapper = PREFIX / "bin/mpicxx"
    if not wrapper.exists():
        return False
    said = subprocess.run([wrapper, "--showme:version"], capture_output=True, text=True, check=False)
    return "Open MPI 4.1" in said.stdout + said.stderr


@pytest.fixture(scope="module")
def old_core() -> Core:
    if not is_there():
        skip_unless_required("openmpi-4.1", f"no Open MPI 4.1 in {PREFIX} (COLLPRESS_OPENMPI_41 names another prefix)")
    build = NATIVE.parent / "results/tests/native-openmpi-41"
    build.mkdir(parents=True, exist_ok=True)
    with (build.parent / "native-openmpi-41.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        references = [
            f"reference_allreduce_{name}" for name in ("recursive_doubling", "ring", "rabenseifner", "linear")
        ]
        cmake_build(build, compiler=PREFIX / "bin/mpicxx", targets=("collpress-core", *references), OMPI_CXX="g++")
    return Core(build, (str(PREFIX / "bin/mpiexec"), *OPEN_MPI))


def test_its_algorithms_are_switched_inside_one_launch(old_core: Core, tmp_path: Path) -> None:
    names = ("recursive_doubling", "rabenseifner", "basic_linear")  # the last adds in another order than our own
    entries = [point(algorithm=f"library:{name}", message_bytes=4096) for name in names]
    proofs = verdicts(prove(old_core, tmp_path, 4, entries, **RULES))
    assert [consistent for _, consistent in proofs] == [[name] for name in names]
    assert [verdict for verdict, _ in proofs] == ["verified", "verified", "unverified"]


def test_its_own_choice_stays_what_it_is_after_others_were_forced(old_core: Core, tmp_path: Path) -> None:
    forced = [point(algorithm=f"library:{name}", message_bytes=8) for name in ("basic_linear", "rabenseifner")]
    first, *_, last = prove(
        old_core, tmp_path, 4, [point(message_bytes=8), *forced, point(message_bytes=8, warmup=6)], **RULES
    )
    assert verdicts([first, last]) == [("consistent", ["recursive_doubling"])] * 2


def test_without_the_rules_it_has_no_algorithms_to_choose(old_core: Core, tmp_path: Path) -> None:
    outcome = old_core.launch(tmp_path, 2, [asked := point(algorithm="library:ring")])
    assert outcome.record(asked)["status"] == "unsupported"


def test_its_results_are_right(old_core: Core, tmp_path: Path) -> None:
    entries = [point(collective=c, message_bytes=4096) for c in ("allreduce", "bcast", "alltoall", "reduce_scatter")]
    outcome = old_core.launch(tmp_path, 4, entries, **RULES)
    assert [outcome.record(entry)["status"] for entry in entries] == ["ok"] * len(entries)
