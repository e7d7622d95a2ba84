"""The house's style is checked by tools, each with its own settings in the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
NATIVE = sorted(str(p) for p in (ROOT / "native").rglob("*") if p.suffix in {".cpp", ".hpp", ".h"})
MUTANTS = sorted(str(p) for p in (ROOT / "tests" / "mutants").iterdir() if p.suffix in {".cpp", ".hpp"})
SNAKEMAKE = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk")), ROOT / "workflow" / "Snakefile"]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["ruff", "check", "."], id="ruff"),
        pytest.param(["ruff", "format", "--check", "."], id="ruff-format"),
        pytest.param(["mypy"], id="mypy"),
        pytest.param(["snakefmt", "--check", *map(str, SNAKEMAKE)], id="snakefmt"),
        pytest.param(["snakemake", "--lint"], id="snakemake-lint"),
        pytest.param(
            ["clang-format", "--style=file:native/.clang-format", "--dry-run", "-Werror", *NATIVE, *MUTANTS],
            id="clang-format",
        ),
    ],
)
def test_the_tool_finds_nothing(command: list[str]) -> None:
    done = run([str(BIN / command[0]), *command[1:]])
    assert done.returncode == 0, done.stdout + done.stderr


def test_clang_tidy_finds_nothing() -> None:
    if "clang-tidy" not in os.environ.get("COLLPRESS_REQUIRE", "").split(","):
        pytest.skip("takes minutes; COLLPRESS_REQUIRE=clang-tidy runs it")
    flags = ["-std=c++20", "-Inative/include", "-Inative/src", f"-isystem{sys.prefix}/include"]
    sources = [name for name in NATIVE if name.endswith(".cpp") and "tests/" not in name]
    algorithms = [name for name in sources if "/collectives/" in name]
    assert len(algorithms) > 50
    together = [str(one_source(algorithms)), "--checks=-bugprone-suspicious-include"]
    asked = [together, *([name] for name in sources if name not in algorithms)]
    config = "--config-file=native/.clang-tidy"
    found = [run([str(BIN / "clang-tidy"), "--quiet", config, *what, "--", *flags]) for what in asked]
    assert "".join(done.stdout + done.stderr for done in found if done.returncode) == ""


def one_source(algorithms: list[str]) -> Path:
    """All algorithms in one, each in a namespace of its own: most of a small source's time are its headers."""
    text = [f"#include <{header}>\n" for header in ("algorithm", "array", "cstddef", "cstdint", "span", "vector")]
    headers = sorted((ROOT / "native/include/collpress").glob("*.hpp"))
    text += [f'#include "collpress/{header.name}"\n' for header in headers]
    text += [
        "#undef COLLPRESS_ALGORITHM_PLUGIN\n",
        "#define COLLPRESS_ALGORITHM_PLUGIN(collective, run, can, summary) ",
    ]
    text += [
        "constexpr collpress_algorithm made = collpress::plain_algorithm(collective, run, collpress::Abilities can);\n"
    ]
    text += [f'namespace algorithm_{i} {{\n#include "{name}"\n}}\n' for i, name in enumerate(algorithms)]
    source = ROOT / "results" / "tests" / "tidy" / "algorithms.cpp"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(text), encoding="utf-8")
    return source


def test_no_module_is_longer_than_600_lines_and_none_is_named_after_nothing() -> None:
    sources = [p for folder in ("workflow", "native", "bench", "tests") for p in (ROOT / folder).rglob("*")]
    code = [p for p in sources if p.suffix in {".py", ".cpp", ".hpp", ".h", ".smk"}]
    assert code
    assert [p for p in code if len(p.read_text(encoding="utf-8").splitlines()) > 600] == []
    assert [p for p in code if p.stem in {"util", "utils", "helper", "helpers", "common", "misc"}] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_no_file_holds_the_address_of_a_package_index() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    ).stdout.splitlines()
    if not listed:
        pytest.skip("not a git checkout")
    index = "/simple" + "/"
    found = [name for name in listed if (p := ROOT / name).is_file() and index.encode() in p.read_bytes()]
    assert found == []
