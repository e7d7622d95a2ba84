"""The proof pass: what the library really ran, by its traffic or its reductions, beside what it was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from native_core import Core, Entry, plan_text, point

RANKS = 4
COUNTERS = {"OMPI_MCA_pml_monitoring_enable": "1"}


def prove(core: Core, folder: Path, ranks: int, entries: list[Entry], **extra: str) -> list[dict[str, Any]]:
    """The proof of each point, in the order of the plan."""
    plan, journal = folder / "plan.tsv", folder / "proofs.jsonl"
    plan.write_text(plan_text(entries), encoding="utf-8")
    references = core.build / "plugins/reference"
    arguments = ["--prove", plan, "--journal", journal, "--ranks", ranks, "--references", references]
    done = core.program_on_ranks(ranks, "collpress-core", *arguments, **extra)
    assert done.returncode == 0, done.stderr
    proofs = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [proof["key"] for proof in proofs] == [entry["key"] for entry in entries]
    return proofs


def verdicts(proofs: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(proof["verdict"], proof["consistent_with"]) for proof in proofs]


def test_traffic_verifies_an_algorithm_against_the_schedule_of_ours(core: Core, tmp_path: Path) -> None:
    names = ["recursive_doubling", "rabenseifner", "basic_linear"]
    entries = [point(algorithm=f"library:{name}", message_bytes=4096) for name in names]
    entries += [point(collective="allgather", algorithm=f"library:{name}") for name in ("bruck", "ring", "neighbor")]
    proofs = prove(core, tmp_path, RANKS, entries, **COUNTERS)
    assert verdicts(proofs) == [("verified", [proof["requested"]]) for proof in proofs]
    assert {proof["evidence"] for proof in proofs} == {"traffic"}


def test_the_librarys_own_choice_is_named(core: Core, tmp_path: Path) -> None:
    small, large = point(message_bytes=8), point(message_bytes=65536)
    assert verdicts(prove(core, tmp_path, RANKS, [small, large], **COUNTERS)) == [
        ("consistent", ["recursive_doubling"]),
        ("consistent", ["rabenseifner"]),
    ]


def test_algorithms_that_send_the_same_are_told_together(core: Core, tmp_path: Path) -> None:
    (proof,) = prove(core, tmp_path, RANKS, [point(algorithm="library:ring", message_bytes=4096)], **COUNTERS)
    assert verdicts([proof]) == [("consistent", ["ring", "segmented_ring"])]


@pytest.mark.parametrize(("name", "ran"), [("ring", "recursive_doubling"), ("rabenseifner", "basic_linear")])
def test_fewer_elements_than_ranks_make_the_library_fall_back(core: Core, tmp_path: Path, name: str, ran: str) -> None:
    (proof,) = prove(core, tmp_path, 5, [point(algorithm=f"library:{name}", message_bytes=8)], **COUNTERS)
    assert proof["verdict"] == "fell back"
    assert proof["reason"] == (
        f"the library ran {ran} in place of {name}, which needs at least as many elements as ranks"
    )


def test_a_swapped_algorithm_is_found_out(core: Core) -> None:
    """Of two that look different, none passes for the other where we have a schedule of the one that was asked for."""
    for collective, count in (("allreduce", 4096), ("barrier", 0)):
        arguments = (collective, count, core.build / "plugins/reference")
        done = core.program_on_ranks(RANKS, "library-mutants", *arguments, **COUNTERS)
        assert done.returncode == 0, done.stderr
        told = [line.split("\t") for line in done.stdout.splitlines()]
        verified = {asked for asked, ran, _, verdict in told if asked == ran and verdict == "verified"}
        assert len(verified) >= 3
        swapped = {verdict for asked, _, looks, verdict in told if asked in verified and looks == "different"}
        assert swapped <= {"fell back", "unverified"}
        assert "fell back" in swapped


def test_without_counters_only_reductions_can_be_seen(core: Core, tmp_path: Path) -> None:
    entries = [point(algorithm="library:recursive_doubling", message_bytes=4096), point(collective="bcast")]
    reduction, movement = prove(core, tmp_path, RANKS, entries)
    assert (reduction["evidence"], reduction["verdict"]) == ("fingerprint", "verified")
    assert "an operation of a user's" in reduction["reason"]
    assert (movement["evidence"], movement["verdict"]) == ("", "unverified")


def test_shared_memory_shows_no_messages(core: Core, tmp_path: Path) -> None:
    shared = {**COUNTERS, "OMPI_MCA_coll_sm_priority": "90"}
    (proof,) = prove(core, tmp_path, 2, [point(message_bytes=4096)], **shared)
    assert proof["verdict"] == "unverified"
    assert "shared memory" in proof["reason"]


def test_mpich_is_seen_by_its_reductions(mpich_core: Core, tmp_path: Path) -> None:
    names = ["ring", "recursive_doubling", "reduce_scatter_allgather"]
    entries = [point(algorithm=f"library:{name}", message_bytes=4096) for name in names]
    ring, doubling, builtin = prove(mpich_core, tmp_path, RANKS, entries)
    assert {ring["evidence"], doubling["evidence"]} == {"fingerprint"}
    assert "ring" in ring["consistent_with"]
    assert "recursive_doubling" in doubling["consistent_with"]
    assert "ring" not in doubling["consistent_with"]
    assert builtin["verdict"] == "unverified"
    assert "with an operation of a user's" in builtin["reason"]
