"""MPICH: its algorithms are switched around each use, really run, or refuse; no launcher of another MPI is believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from native_core import HYDRA, Core, environment, plan_text, point

from collpress.execute.shared_memory import remove_unused_segments
from collpress.layout import ROOT
from collpress.plan.offer import Offer, library_algorithms
from collpress.plan.support import unsupported
from collpress.spec import load_platform
from collpress.spec.factors import FACTORS

RANKS, COUNT = 4, 64
MANY = 20
"""After five calls on a communicator MPICH's device would take over, and ask for no algorithm."""
READ = """
import ctypes, sys
mpi, index, handle, count, value = ctypes.CDLL(sys.argv[1]), *(ctypes.c_int() for _ in range(4))
handle = ctypes.c_void_p()
assert mpi.MPI_T_init_thread(0, ctypes.byref(value)) == 0
assert mpi.MPI_T_cvar_get_index(sys.argv[2].encode(), ctypes.byref(index)) == 0
assert mpi.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(count)) == 0
assert mpi.MPI_T_cvar_read(handle, ctypes.byref(value)) == 0
print(value.value)
"""
Steps = list[tuple[int, set[int], set[int]]]
NO_ALGORITHMS = {"auto", "nb", "smp", "ccl"}


@pytest.fixture(scope="module")
def fingerprints(mpich_core: Core) -> dict[str, list[str]]:
    """For each algorithm: what each rank reduced in the last of many calls, or that the library refuses."""
    done = mpich_core.program_on_ranks(RANKS, "library-fingerprint", COUNT, MANY)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, rank, *words = line.split(" ", 2)
        assert int(rank) == len(found.setdefault(name, []))
        found[name].append(words[0] if words else "")
    return found


def steps(text: str) -> Steps:
    """`16:8|1` is a reduction of 16 elements, one operand being of rank 3, the other of rank 0."""

    def ranks(mask: str) -> set[int]:
        return {rank for rank in range(RANKS) if int(mask, 16) >> rank & 1}

    parts = [step.replace("|", ":").split(":") for step in text.split()]
    return [(int(count), ranks(one), ranks(other)) for count, one, other in parts]


def test_a_ring_reduces_one_block_after_the_other(fingerprints: dict[str, list[str]]) -> None:
    for text in fingerprints["ring"]:
        reduced = steps(text)
        assert [count for count, _, _ in reduced] == [COUNT // RANKS] * (RANKS - 1)
        assert [len(arrived | own) for _, arrived, own in reduced] == [2, 3, 4]
        assert all(len(own) == 1 for _, _, own in reduced)


@pytest.mark.parametrize("name", ["recursive_doubling", "recexch", "recursive_multiplying"])
def test_exchanges_reduce_whole_vectors_on_every_rank(fingerprints: dict[str, list[str]], name: str) -> None:
    for text in fingerprints[name]:
        assert [(count, len(one | other)) for count, one, other in steps(text)] == [(COUNT, 2), (COUNT, 4)]


def test_a_reduce_scatter_halves_the_vector_at_each_step(fingerprints: dict[str, list[str]]) -> None:
    for text in fingerprints["k_reduce_scatter_allgather"]:
        assert [count for count, _, _ in steps(text)] == [COUNT // 2, COUNT // 4]


def test_a_tree_reduces_at_its_inner_nodes_only(fingerprints: dict[str, list[str]]) -> None:
    by_rank = [steps(text) for text in fingerprints["tree"]]
    assert [len(reduced) for reduced in by_rank] == [2, 1, 0, 0]
    assert by_rank[0][-1][1] | by_rank[0][-1][2] == set(range(RANKS))


def test_an_algorithm_that_takes_no_operation_of_a_users_refuses_it_instead_of_being_replaced(
    fingerprints: dict[str, list[str]],
) -> None:
    assert set(fingerprints["reduce_scatter_allgather"]) == {
        f"the library cannot use reduce_scatter_allgather for {COUNT} elements on {RANKS} ranks"
    }


def test_the_offer_is_read_from_the_library_without_names_that_stand_for_no_algorithm(mpich_core: Core) -> None:
    offers = json.loads(mpich_core.call("--offers").stdout)
    assert offers["library"].startswith("MPICH")
    assert offers["controls"] == "mpich"
    names = {(a["collective"], a["name"]) for a in offers["algorithms"]}
    assert {
        ("allreduce", "ring"),
        ("bcast", "pipelined_tree"),
        ("alltoall", "k_brucks"),
        ("barrier", "recexch"),
    } <= names
    assert {(collective, "default") for collective in {collective for collective, _ in names}} <= names
    assert not NO_ALGORITHMS & {name for _, name in names}
    assert ("alltoallv", "pairwise_sendrecv_replace") not in names  # it serves only calls in place


def test_the_numbers_that_come_from_a_description_are_the_librarys_own(mpich_core: Core, mpich: Path) -> None:
    """MPICH takes a name from the environment: what its variable then holds is the name's number."""
    algorithms = json.loads(mpich_core.call("--offers").stdout)["algorithms"]
    offered = {(a["collective"], a["name"]): a["id"] for a in algorithms if a["name"] != "default"}
    library = next((mpich / "lib").glob("libmpi.so.*"))
    found = {}
    for collective, name in offered:
        variable = f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"
        command = [sys.executable, "-c", READ, str(library), variable]
        said = subprocess.run(command, env=environment(**{variable: name}), capture_output=True, text=True, check=True)
        found[collective, name] = int(said.stdout)
    assert len(found) > 30
    assert found == offered


def test_what_an_algorithm_cannot_serve_is_unsupported_and_the_next_points_are_measured(
    mpich_core: Core, tmp_path: Path
) -> None:
    one = point(algorithm="library:reduce_scatter_allgather", message_bytes=4)
    two = point(algorithm="library:reduce_scatter_allgather", message_bytes=8)
    ring = point(algorithm="library:ring", message_bytes=4)
    default = point(algorithm="library:default", message_bytes=4)
    reference = mpich_core.reference("ring", message_bytes=64)
    nothing = point(algorithm="library:smp")
    outcome = mpich_core.launch(tmp_path, 2, [one, two, ring, default, reference, nothing])
    assert outcome.code == 0, outcome.errors
    record = outcome.record(one)
    assert record["status"] == "unsupported"
    assert record["reason"] == "the library cannot use reduce_scatter_allgather for 1 elements on 2 ranks"
    for entry, known_by in (
        (two, "read back"),
        (ring, "read back"),
        (default, "read back"),
        (reference, "construction"),
    ):
        assert (outcome.record(entry)["status"], outcome.record(entry)["effective"]["known_by"]) == ("ok", known_by)
    assert 'offers no allreduce algorithm "smp"' in outcome.record(nothing)["reason"]


def test_an_algorithm_that_works_in_place_only_says_so_and_is_refused_before_it_is_measured(
    mpich_core: Core, tmp_path: Path
) -> None:
    name = "pairwise_sendrecv_replace"
    offers = json.loads(mpich_core.call("--offers").stdout)
    [said] = [a for a in offers["algorithms"] if (a["collective"], a["name"]) == ("alltoall", name)]
    assert (said["in_place"], said["only_in_place"]) == (True, True)
    offered = Offer(tuple(library_algorithms(offers, "mpich")), ())
    factors = {"collective": "alltoall", "algorithm": f"library:{name}", "message_bytes": 1024, "ranks": 2}
    platform = load_platform(ROOT / "config/platforms/mpich.yaml")
    reasons = {
        buffers: unsupported(
            {factor: f.default for factor, f in FACTORS.items()} | factors | {"buffers": buffers}, platform, offered, {}
        )
        for buffers in ("separate", "in-place")
    }
    assert reasons == {"separate": f"library:{name} works in place only", "in-place": None}

    asked = {"collective": "alltoall", "algorithm": f"library:{name}", "message_bytes": 1024}
    apart, in_place = point(**asked), point(**asked, buffers="in-place")
    outcome = mpich_core.launch(tmp_path, 2, [apart, in_place])
    assert outcome.code == 0, outcome.errors
    assert outcome.record(apart)["status"] == "unsupported"
    assert outcome.record(apart)["reason"].endswith(f"{name} works in place only")
    assert outcome.record(in_place)["status"] == "ok"


def test_settings_that_hold_everywhere_do_not_reach_the_cores_own_collectives(mpich_core: Core, tmp_path: Path) -> None:
    """The core broadcasts and reduces between iterations; an algorithm that cannot serve such a call would abort it."""
    offers = json.loads(mpich_core.call("--offers").stdout)["algorithms"]
    names = [(a["collective"], a["name"]) for a in offers if a["collective"] in ("bcast", "reduce", "barrier")]
    entries = [
        point(collective=c, algorithm=f"library:{name}", message_bytes=0 if c == "barrier" else 4096, at_least=0.02)
        for c, name in names
    ]
    refused = point(collective="bcast", algorithm="library:binomial", sync="barrier")
    outcome = mpich_core.launch(tmp_path, 2, [*entries, refused])
    assert outcome.code == 0, outcome.errors
    assert {outcome.record(entry)["status"] for entry in entries} <= {"ok", "unsupported"}
    assert outcome.record(entries[0])["status"] == "ok"
    assert "use sync dissemination" in outcome.record(refused)["reason"]


def test_a_core_of_mpich_under_open_mpis_launcher_says_so(mpich_core: Core, core: Core, tmp_path: Path) -> None:
    mixed = Core(mpich_core.build, core.mpiexec)
    outcome = mixed.launch(tmp_path, 2, [point()])
    assert outcome.code == 4
    assert outcome.lines == []
    for words in ("one of Open MPI's kind", "built with MPICH (MPICH Version", "fix: start it with the mpiexec beside"):
        assert outcome.errors.count(words) == 1


def test_a_core_of_open_mpi_under_mpichs_launcher_says_so(mpich_core: Core, core: Core, tmp_path: Path) -> None:
    mixed = Core(core.build, mpich_core.mpiexec)
    outcome = mixed.launch(tmp_path, 2, [point()])
    assert outcome.code == 4
    assert outcome.lines == []
    for words in ("started 1 ranks, the plan is for 2", "one of MPICH's kind", "built with Open MPI (Open MPI v"):
        assert outcome.errors.count(words) == 1


def test_a_launcher_that_is_killed_takes_its_ranks_with_it(mpich_core: Core, mpich: Path, tmp_path: Path) -> None:
    plan, journal = tmp_path / "plan.tsv", tmp_path / "journal.jsonl"
    endless = point(at_most=600, min_iterations=10**7, max_iterations=10**7, precision=0.0000001)
    plan.write_text(plan_text([endless]), encoding="utf-8")
    arguments = ["--plan", str(plan), "--journal", str(journal), "--launch", "0", "--attempt", "1", "--seed", "1"]
    command = [str(mpich / "bin/mpiexec"), *HYDRA, "-n", "2", str(mpich_core.program), *arguments, "--ranks", "2"]
    process = subprocess.Popen(command, env=environment(), start_new_session=True)
    _until(lambda: journal.exists() and '"begin"' in journal.read_text(encoding="utf-8"))
    assert len(_started_on(plan)) == 3  # the launcher and two ranks
    process.send_signal(signal.SIGKILL)
    process.wait()
    _until(lambda: not _started_on(plan))
    remove_unused_segments()


def _started_on(plan: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if os.fsencode(plan) in words:
            found.append(int(entry.name))
    return found


def _until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.05)
