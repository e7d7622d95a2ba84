"""Which figures there are, and which files each depends on; found by reading the modules, not by importing them.

A figure is a module of this package that defines `draw(cube, width) -> Drawing`; its name is the module's with `-` for
`_`. With `-single` behind it the same module draws for one column of a page instead of two. One that also defines
`draw_several(cubes, width) -> Drawing` can be drawn over the cubes of several platforms. Cheap enough for Snakemake
to ask at each start.
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from collpress.errors import CollpressError, did_you_mean

if TYPE_CHECKING:
    import xarray as xr

    from collpress.figures.drawing import Drawing
    from collpress.figures.style import Width

ONE_COLUMN = "-single"

_FIGURES = Path(__file__).resolve().parent
_PACKAGE = _FIGURES.parent
_ROOMS = ("figures", "analysis", "cube")
_ALWAYS = ("style.py", "stamp.py", "files.py")
"""What every figure goes through on its way to the disk."""


def figure_names() -> list[str]:
    """All figures as drawn for two columns, sorted."""
    return sorted(p.stem.replace("_", "-") for p in _FIGURES.glob("*.py") if _defines_draw(p))


def figure_module(name: str, where: str = "") -> Path:
    """The file that draws `name`; CollpressError with a suggestion where there is none. `where`: who asks for it."""
    names = figure_names()
    stem = name.removesuffix(ONE_COLUMN)
    if stem not in names:
        raise CollpressError(
            f'unknown figure "{name}"',
            where=where,
            allowed=f"{', '.join(names)}; with {ONE_COLUMN} behind it for one column of a page",
            fix=did_you_mean(name, [*names, *(n + ONE_COLUMN for n in names)]),
        )
    return _FIGURES / f"{stem.replace('-', '_')}.py"


def width_of(name: str) -> Width:
    """What the name of a figure says of its width."""
    return "single" if name.endswith(ONE_COLUMN) else "double"


def figure_sources(name: str) -> list[Path]:
    """The figure's module and all that it imports of figures, analysis and cube: editing one redraws it."""
    return modules_behind([figure_module(name), *(_FIGURES / file for file in _ALWAYS)], _ROOMS)


def modules_behind(modules: Iterable[Path], rooms: Collection[str]) -> list[Path]:
    """These modules and all that they import of some rooms, directly or not; sorted."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path, rooms)
    return sorted(found)


def load(name: str) -> Callable[[xr.DataTree], Drawing]:
    """The figure's `draw` for the width that the name asks for (this imports matplotlib)."""
    module = importlib.import_module(f"collpress.figures.{figure_module(name).stem}")
    draw = cast("Callable[[xr.DataTree, Width], Drawing]", module.draw)
    return lambda cube: draw(cube, width_of(name))


def load_several(name: str, where: str = "") -> Callable[[Sequence[xr.DataTree]], Drawing]:
    """The figure's `draw_several`; CollpressError for a figure that is drawn from one cube only."""
    if not _defines(figure_module(name, where), "draw_several"):
        able = [n for n in figure_names() if _defines(figure_module(n), "draw_several")]
        raise CollpressError(f'the figure "{name}" is drawn from one cube', where=where, allowed=", ".join(able))
    module = importlib.import_module(f"collpress.figures.{figure_module(name).stem}")
    draw = cast("Callable[[Sequence[xr.DataTree], Width], Drawing]", module.draw_several)
    return lambda cubes: draw(cubes, width_of(name))


def _defines_draw(path: Path) -> bool:
    return _defines(path, "draw")


def _defines(path: Path, function: str) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in _parsed(path).body)


def _imports(path: Path, rooms: Collection[str]) -> list[Path]:
    """Modules of these rooms that `path` imports, at any depth of its text."""
    names: set[str] = set()
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    paths = [_PACKAGE.joinpath(*n.split(".")[1:]).with_suffix(".py") for n in names if n.startswith("collpress.")]
    return [p for p in paths if p.is_file() and p.parent.name in rooms]


def _parsed(path: Path) -> ast.Module:
    return _syntax(path.read_text(encoding="utf-8"), str(path))


@functools.cache  # a few modules are behind every figure
def _syntax(text: str, filename: str) -> ast.Module:
    return ast.parse(text, filename=filename)
