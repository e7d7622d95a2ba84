"""`collpress VERB ...`: finds the verb's module in `collpress.verbs` and runs it.

A verb is one file: its docstring is the help (first line: summary), `configure(parser)` adds arguments, `run(args)`
returns the exit code. Only the module of the verb that was asked for is imported, so that start-up stays quick.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import collpress
from collpress import __version__, verbs
from collpress.errors import CollpressError, did_you_mean
from collpress.log import log_to


def main(argv: list[str] | None = None) -> int:
    """Run one verb; returns its exit code (0 ok, 2 a user's mistake, 3 incomplete, 4 a regression, 130 interrupted)."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) > 2 and arguments[0] == "--log":
        with log_to(Path(arguments[1])):
            return main(arguments[2:])
    names = sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(verbs.__path__))
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview(names))
        return 0
    if arguments[0] == "--version":
        print(f"collpress {__version__}")
        return 0
    name = arguments[0]
    if name not in names:
        hint = did_you_mean(name, names) or "collpress --help"
        print(f'collpress: unknown verb "{name}"\n  allowed: {", ".join(names)}\n  fix: {hint}', file=sys.stderr)
        return 2
    module = _module(name)
    parser = argparse.ArgumentParser(
        prog=f"collpress {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.configure(parser)
    try:
        return int(module.run(parser.parse_args(arguments[1:])))
    except CollpressError as error:
        print(f"collpress {name}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"collpress.verbs.{name.replace('-', '_')}")


def _overview(names: list[str]) -> str:
    lines = [
        "usage: collpress [--log FILE] VERB [ARGUMENTS]",
        "",
        collpress.__doc__ or "",
        "",
        "verbs:",
    ]
    for name in names:
        summary = (_module(name).__doc__ or "").strip().splitlines()[0]
        lines.append(f"  {name:<12} {summary}")
    lines += ["", "collpress VERB --help shows a verb's arguments and an example."]
    return "\n".join(lines)
