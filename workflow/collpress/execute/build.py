"""Compiling the core and the plugins, and writing down what came out: `build.json`.

CMake and Ninja work in a folder of their own; what they make is copied to its place only when everything compiled,
and only where bytes differ. So a failed build leaves the previous one whole, and a build that changes nothing touches
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.compilation import Compilation
from collpress.execute.description import describe_mpi, describe_plugins
from collpress.execute.toolchain import Toolchain
from collpress.files import copy_file, write_json
from collpress.layout import PLUGIN_SUFFIXES, ROOT, build_record
from collpress.metrics.python import plugin_source
from collpress.plan.built import read_build

ORIGINS = {
    "codecs": "src/codecs",
    "metrics": "src/metrics",
    "reference": "src/collectives",
    "compressed": "src/compressed",
}


@dataclass(frozen=True)
class Built:
    """Where a build was written down, and whether anything in it changed."""

    record: Path
    changed: bool


def build_project(
    platform: str, toolchain: Toolchain, native: Path = ROOT / "native", out: Path | None = None
) -> Built:
    """Build the core and the project's plugins to `results/native/<platform>/`.

    Parameters
    ----------
    out : another folder than that one.

    Raises
    ------
    CollpressError : a compiler error (file, line and the compiler's words), or a plugin that does not load.
    """
    out = out or build_record(platform).parent
    mpi = describe_mpi(toolchain)  # first: a library of another kind would only waste the compiler's time
    compilation = Compilation(native, out / "build", toolchain)
    compilation.run([])
    core = out / "collpress-core"
    core_sha256 = copy_file(out / "build" / "collpress-core", core)
    made = sorted((out / "build" / "plugins").rglob("*.so"))
    sources = {path: _project_source(native, path.relative_to(out / "build" / "plugins")) for path in made}
    plugins = _install({path: source for path, source in sources.items() if source.is_file()}, out / "build", out, core)
    record = {
        "schema": 1,
        "platform": platform,
        "core": {"path": _shown(core), "sha256": core_sha256},
        **_tools(compilation, toolchain, mpi),
        "plugins": plugins,
    }
    return Built(out / "build.json", write_json(out / "build.json", record))


def build_plugins(
    platform: str, toolchain: Toolchain, directories: Sequence[Path], out: Path, native: Path = ROOT / "native"
) -> Built:
    """Build a campaign's own plugins to `out`; without directories there is nothing to do but to say so.

    A source that does not compile or load is written down as broken, and the others are built.

    Raises
    ------
    CollpressError : a directory without sources, two plugins of one name and kind.
    """
    sources = plugin_sources(directories)
    project = read_build(build_record(platform))
    record: dict[str, Any] = {"schema": 1, "platform": platform, "core": None}
    if not sources:
        tools = {name: project[name] for name in ("compiler", "mpi")}
        return Built(
            out / "build.json", write_json(out / "build.json", {**record, **tools, "plugins": [], "broken": []})
        )
    compilation = Compilation(native, out / "build", toolchain)
    core = Path(project["core"]["path"])
    made, broken = _compile_each(compilation, sources, core)
    described = describe_plugins(core, list(made))
    _refuse_clashes(described, list(made.values()), project["plugins"])
    plugins = _install(made, out.absolute() / "build", out, core)
    record |= {**_tools(compilation, toolchain, describe_mpi(toolchain)), "plugins": plugins, "broken": broken}
    return Built(out / "build.json", write_json(out / "build.json", record))


def _compile_each(
    compilation: Compilation, sources: Sequence[Path], core: Path
) -> tuple[dict[Path, Path], list[dict[str, str]]]:
    """Plugins that compile and load, by their sources, and what is wrong with the others.

    All together first; one by one only where that fails, to tell the broken from the sound.
    """
    broken: list[dict[str, str]] = []
    compiled = {}
    for source in sources:
        try:
            compiled[source] = _in_cpp(compilation, source)
        except CollpressError as error:
            broken.append(_broken(source, error))
    made = {compilation.folder / "user" / f"{source.stem}.so": source for source in compiled}
    if not made:
        return {}, broken
    try:
        compilation.run(list(compiled.values()))
        describe_plugins(core, list(made))
        return made, broken
    except CollpressError:
        sound = {}
    for plugin, source in made.items():
        try:
            compilation.run([compiled[source]])
            describe_plugins(core, [plugin])
            sound[plugin] = source
        except CollpressError as error:
            broken.append(_broken(source, error))
    return sound, broken


def _in_cpp(compilation: Compilation, source: Path) -> Path:
    """What the compiler gets of a source."""
    return plugin_source(source, compilation.folder.with_name("made")) if source.suffix == ".py" else source


def _broken(source: Path, error: CollpressError) -> dict[str, str]:
    """An entry of `broken`; the whole error is told at once."""
    print(error, file=sys.stderr)
    where = Path(error.where).name
    reason = f"{where}: {error.what.splitlines()[0]}" if where else error.what
    return {"name": source.stem, "source": _shown(source), "reason": reason}


def broken_plugins(path: Path) -> list[str]:
    """What is wrong with a campaign's own plugins, one text a source, by their build.json; none before there is one."""
    if not path.exists():
        return []
    told = ((Path(b["source"]).name, str(b["reason"])) for b in read_build(path).get("broken", ()))
    return [reason if reason.startswith(f"{name}:") else f"{name}: {reason}" for name, reason in told]


def plugin_sources(directories: Iterable[Path]) -> list[Path]:
    """Every .cpp, .c and .py file in or below the directories, sorted.

    Two of one stem are refused, for the stem is the plugin's name.
    """
    found: dict[str, Path] = {}
    for directory in directories:
        if not directory.is_dir():
            raise CollpressError("there is no such directory of plugins", where=str(directory))
        sources = sorted(p for p in directory.rglob("*") if p.suffix in PLUGIN_SUFFIXES and p.is_file())
        if not sources:
            raise CollpressError(
                "the directory holds no plugin", where=str(directory), allowed=", ".join(PLUGIN_SUFFIXES)
            )
        for source in map(Path.absolute, sources):
            other = found.setdefault(source.stem, source)
            if other != source:
                raise CollpressError(
                    f'two plugins are called "{source.stem}"', where=f"{other}, {source}", fix="rename one of the files"
                )
    return sorted(found.values())


def _project_source(native: Path, plugin: Path) -> Path:
    """`codecs/zfp.so` or `reference/allreduce/ring.so` -> its source."""
    kind, *rest = plugin.with_suffix(".cpp").parts
    return native.joinpath(ORIGINS[kind], *rest)


def _install(made: dict[Path, Path], build: Path, out: Path, core: Path) -> list[dict[str, Any]]:
    """Copy plugins from the build folder to `out`, drop those whose source is gone; the plugins part of build.json."""
    described = describe_plugins(core, list(made))
    entries, kept = [], set()
    for (path, source), words in zip(made.items(), described, strict=True):
        target = out / path.relative_to(build)
        entry = {**words, "path": _shown(target), "sha256": copy_file(path, target), "source": _shown(source)}
        kept.add(target)
        tagged = _tagged(path, build)
        if tagged.is_file():
            target = out / tagged.relative_to(build)
            copy_file(tagged, target)
            kept.add(target)
            entry["tagged"] = _shown(target)
        entries.append(entry)
    for folder in {out / path.relative_to(out).parts[0] for path in kept}:
        for stale in set(folder.rglob("*.so")) - kept:
            stale.unlink()
    return sorted(entries, key=lambda entry: (entry["kind"], entry["path"]))


def _tagged(plugin: Path, build: Path) -> Path:
    """Where the same source lies compiled with its tags, if it has any: `plugins/X.so` -> `tagged/X.so`."""
    folder, *rest = plugin.relative_to(build).parts
    return build.joinpath("tagged", *(rest if folder == "plugins" else (folder, *rest)))


def _refuse_clashes(described: list[dict[str, Any]], sources: list[Path], project: list[dict[str, Any]]) -> None:
    known = {_identity(entry): entry for entry in project}
    for words, source in zip(described, sources, strict=True):
        other = known.get(_identity(words))
        if other is not None:
            raise CollpressError(
                f'the {words["kind"]} "{words["name"]}" is one of the project\'s own ({other["source"]})',
                where=str(source),
                fix="rename the file; its stem is the plugin's name",
            )


def _identity(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["kind"], entry.get("collective"), entry.get("compresses"), entry["name"]


def _tools(compilation: Compilation, toolchain: Toolchain, mpi: dict[str, Any]) -> dict[str, Any]:
    compiler = {
        "command": toolchain.compiler.command,
        "version": toolchain.compiler.version,
        "flags": compilation.flags(),
    }
    return {"compiler": compiler, "mpi": mpi}


def _shown(path: Path) -> str:
    """Relative to the checkout where it lies inside."""
    absolute = path.absolute()
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
