"""The C++20 compiler: found, and what it makes runs."""

from __future__ import annotations

import os
from pathlib import Path

from collpress.doctor.programs import ask
from collpress.doctor.result import Result, ok, problem
from collpress.errors import CollpressError
from collpress.execute.toolchain import STANDARD, Compiler, find_compiler

_PROGRAM = """#include <algorithm>
#include <concepts>
#include <cstdio>
#include <ranges>
#include <thread>
#include <vector>
template <std::integral T> T total(const std::vector<T> &values) {
    T sum = 0;
    for (T value : values | std::views::filter([](T v) { return v % 2 == 0; })) sum += value;
    return sum;
}
int main() {
    int sum = 0;
    std::thread([&sum] { sum = total(std::vector<int>{1, 2, 3, 4}); }).join();
    std::printf("%d\\n", sum);
}
"""


def compiler(folder: Path) -> tuple[Result, Compiler | None]:
    """Compiles, links and runs a program of C++20, with a thread; the compiler where that worked.

    folder : an empty one, to work in.
    """
    check = "C++20 compiler"
    environment = shims(folder)
    try:
        found = find_compiler(folder, environment)
    except CollpressError as error:
        return problem(check, error.what, error.fix), None
    source, program = folder / "probe.cpp", folder / "probe"
    source.write_text(_PROGRAM, encoding="utf-8")
    command: list[str | Path] = [found.command, STANDARD, "-O1", "-pthread", source, "-o", program]
    # zig compiles its C++ library on its first use, which takes a while.
    built = ask(command, seconds=300, environment={**os.environ, **environment})
    if built.code != 0:
        fix = "install the rest of it (linker, C++ library; Debian: apt install g++), or set CXX to another compiler"
        return problem(check, f"{found.version} does not make a program: {built.last_words}", fix), None
    ran = ask([program], seconds=30)
    if ran.code != 0 or ran.output.strip() != "6":
        said = f"a program of {found.version} does not run as it should: {ran.last_words}"
        return problem(check, said, "set CXX to a compiler for this machine; unset what makes it cross-compile"), None
    return ok(check, f"{found.version}: compiles, links and runs"), found


def shims(folder: Path) -> dict[str, str]:
    """Variables with which a compiler's shims and caches lie in `folder`."""
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    return {"PATH": path, "ZIG_GLOBAL_CACHE_DIR": str(folder), "ZIG_LOCAL_CACHE_DIR": str(folder)}
