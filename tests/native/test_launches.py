"""What a launch does with bad plans, another world, plugins that end the process, and a journal that was cut off."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from native_core import Core, environment, plan_text, point

from collpress.execute.processes import ask_for_stacks, end_session


def bad_plans() -> list[tuple[str, str, str]]:
    good = plan_text([point()]).splitlines()[1]
    line = good.replace
    return [
        ("no header", "allreduce\n", ':1: "allreduce" is not the first line of a plan'),
        ("unknown key", line("warmup=", "warmpu="), 'key "warmpu": unknown (did you mean "warmup"?); known: key, id, '),
        ("missing key", line("\top=sum", ""), 'key "op": missing'),
        ("repeated key", good + "\top=sum", 'key "op": given twice'),
        (
            "unknown word",
            line("op=sum", "op=summ"),
            'key "op": unknown value "summ" (did you mean "sum"?); known: sum, max',
        ),
        ("not a number", line("warmup=1", "warmup=1.5"), 'key "warmup": "1.5" is not a whole number'),
        (
            "not finite",
            line("precision=0.05", "precision=nan"),
            'key "precision": "nan" is not a finite number above 0',
        ),
        ("bad escape", line("op=sum", "op=%4"), 'key "op": "%4" has a % without two hex digits'),
        ("bad origin", line("library:default", "libary:default"), 'unknown origin "libary" (did you mean "library"?)'),
        ("no iterations", line("min_iterations=3", "min_iterations=0"), 'key "min_iterations": must be at least 1'),
        ("limits crossed", line("max_iterations=6", "max_iterations=2"), "is below min_iterations"),
        ("vain codec", good + "\tcodec=zfp", 'key "codec": only a compressed: algorithm has a codec'),
        ("no path", line("data=pattern", "data=file"), 'key "data_path": missing'),
        (
            "vain unique bytes",
            good + "\tdata_unique_bytes=4",
            'key "data_unique_bytes": only data=file has this',
        ),
        ("bad identity", line("key=", "key=x"), "is not 32 lower-case hex digits"),
        ("empty line", "", '"" is not key=value'),
        ("twice", good + "\n" + good, "is in the plan twice"),
    ]


@pytest.mark.parametrize(("what", "lines", "message"), bad_plans(), ids=[name for name, _, _ in bad_plans()])
def test_a_bad_plan_stops_before_mpi_with_file_line_and_key(
    core: Core, tmp_path: Path, what: str, lines: str, message: str
) -> None:
    plan, journal = tmp_path / "plan.tsv", tmp_path / "journal.jsonl"
    plan.write_text(lines if what == "no header" else "collpress-plan\t1\n" + lines + "\n", encoding="utf-8")
    arguments = ("--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 1)
    done = core.call("--plan", plan, "--journal", journal, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    line = {"no header": 1, "twice": 3}.get(what, 2)
    assert done.stderr.startswith(f"{plan}:{line}: ")
    assert not journal.exists()


def test_under_a_launcher_the_message_comes_once_and_the_exit_code_is_2(core: Core, tmp_path: Path) -> None:
    outcome = core.launch(tmp_path, 3, "collpress-plan\t1\nkye=1\n")
    assert outcome.code == 2
    assert outcome.errors.count('key "kye": unknown (did you mean "key"?)') == 1
    assert outcome.lines == []


def test_another_world_than_the_plan_is_for_ends_with_code_4(core: Core, tmp_path: Path) -> None:
    outcome = core.launch(tmp_path, 2, [point()], claimed_ranks=3)
    assert outcome.code == 4
    assert "the launcher started 2 ranks, the plan is for 3" in outcome.errors
    assert outcome.lines == []


@pytest.mark.parametrize("name", ["crashes", "exits"])
def test_a_plugin_that_ends_the_process_leaves_its_begin_without_a_record(
    core: Core, user: Path, tmp_path: Path, name: str
) -> None:
    entry = core.reference(name, plugin=user / f"{name}.so")
    outcome = core.launch(tmp_path, 2, [entry])
    assert outcome.code not in (0, 2, 4)
    assert [line["kind"] for line in outcome.lines] == ["launch", "begin"]
    assert outcome.lines[-1]["key"] == entry["key"]


def test_launches_append_to_one_journal_in_orders_of_their_own_after_a_torn_line(core: Core, tmp_path: Path) -> None:
    plan = [core.reference("ring", message_bytes=4 * n, max_iterations=3) for n in range(12)]
    first = core.launch(tmp_path, 1, plan, launch=0)
    journal = tmp_path / "journal.jsonl"
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"kind": "record", "torn')
    second = core.launch(tmp_path, 1, plan, launch=1)
    assert second.lines[: len(first.lines)] == first.lines
    orders = [line["order"] for line in second.lines if line["kind"] == "launch"]
    assert len(orders) == 2
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_the_order_depends_on_seed_and_launch_only(core: Core, tmp_path: Path) -> None:
    plan = [core.reference("ring", message_bytes=4 * n, max_iterations=3) for n in range(12)]
    once = core.launch(tmp_path / "1", 1, plan, seed=7).lines[0]["order"]
    again = core.launch(tmp_path / "2", 2, plan, seed=7).lines[0]["order"]
    other = core.launch(tmp_path / "3", 1, plan, seed=8).lines[0]["order"]
    assert once == again
    assert once != other


def test_an_unwritable_journal_is_a_message_not_a_success(core: Core, tmp_path: Path) -> None:
    plan = tmp_path / "plan.tsv"
    plan.write_text(plan_text([point()]), encoding="utf-8")
    arguments = ("--launch", 0, "--attempt", 1, "--seed", 1, "--ranks", 2)
    done = core.program_on_ranks(2, "collpress-core", "--plan", plan, "--journal", tmp_path / "no/journal", *arguments)
    assert done.returncode not in (0, 2, 4)
    assert "journal cannot be opened" in done.stderr


def test_a_rank_that_waits_for_ever_says_where_when_it_is_asked(core: Core, user: Path, tmp_path: Path) -> None:
    """As the supervisor does before it ends a launch that gives no sign of life."""
    plan = tmp_path / "plan.tsv"
    plan.write_text(plan_text([point(algorithm="reference:deadlocks", plugin=user / "deadlocks.so")]), encoding="utf-8")
    command = [*core.mpiexec, "-n", "2", str(core.program), "--plan", str(plan), "--journal", str(tmp_path / "journal")]
    command += ["--launch", "0", "--attempt", "1", "--seed", "1", "--ranks", "2"]
    said = tmp_path / "said"
    with said.open("wb") as file:
        process = subprocess.Popen(command, env=environment(), stdout=file, stderr=file, start_new_session=True)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and "here:" not in said.read_text(encoding="utf-8"):
            if (tmp_path / "journal").exists() and '"begin"' in (tmp_path / "journal").read_text(encoding="utf-8"):
                time.sleep(0.5)
                ask_for_stacks(process.pid, "collpress-core")
            time.sleep(0.1)
        text = said.read_text(encoding="utf-8")
    finally:
        end_session(process.pid)
        process.wait()
    assert {f"rank {rank} is here:" in text for rank in (0, 1)} == {True}
    assert text.count("MPI_Wait") == 2
