"""What a word on the command line means: a campaign on a platform, a cube's file, or a baseline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from collpress.analysis.circumstances import provenance
from collpress.analysis.measured import Measured, measured
from collpress.comparison.baseline import load
from collpress.cube.file import open_cube
from collpress.errors import CollpressError, did_you_mean
from collpress.layout import BASELINES, CAMPAIGNS, Places, baseline_file

ALLOWED = "CAMPAIGN/PLATFORM or CAMPAIGN@PLATFORM, the path of a cube.nc, the name or the path of a baseline"
_USUAL = "local"
_BASELINE = "baseline:"


@dataclass(frozen=True)
class Subject:
    """One side of a comparison; `asked` is the word that named it."""

    asked: str
    measured: Measured
    baseline: bool

    @property
    def mpi(self) -> str:
        """The MPI library that measured, as far as the first comma."""
        world = provenance(self.measured).get("world") or {}
        libraries = world.get("mpi_libraries") or ["an MPI library that is not told"]
        return "; ".join(str(library).split(",")[0] for library in libraries)

    @property
    def words(self) -> str:
        """`main, a baseline of quick on local, Open MPI v5`."""
        attrs = self.measured.attrs
        kept = f"a baseline of {attrs.get('campaign')} on {attrs.get('platform')}, " if self.baseline else ""
        return f"{self.asked}, {kept}{self.mpi}"


def subject(word: str) -> Subject:
    """Open what `word` means.

    Raises
    ------
    CollpressError : it means nothing, two things, or what cannot be read.
    """
    path = Path(word)
    if word.startswith(_BASELINE):
        return Subject(word, load(baseline_file(word.removeprefix(_BASELINE))), baseline=True)
    if path.suffix == ".json":
        return Subject(word, load(path), baseline=True)
    if path.suffix == ".nc" or path.is_file():
        return Subject(word, measured(open_cube(path)), baseline=False)
    names = re.split("[/@]", word)
    if len(names) > 2:
        raise CollpressError(f'"{word}" names no cube', allowed=ALLOWED)
    return _bare(word) if len(names) == 1 else _of(word, Places(*names))


def _of(word: str, places: Places) -> Subject:
    if not places.cube.exists():
        fix = f"collpress run {places.campaign} --platform {places.platform}"
        raise CollpressError("there is no cube", where=str(places.cube), fix=fix)
    return Subject(word, measured(open_cube(places.cube)), baseline=False)


def _bare(word: str) -> Subject:
    """A baseline of this name, or the campaign on the platform that every verb takes for granted."""
    places, kept = Places(word, _USUAL), baseline_file(word)
    if kept.is_file() and places.cube.exists():
        raise CollpressError(
            f'"{word}" names a baseline and a campaign',
            where=f"{kept}, {places.cube}",
            fix=f"{_BASELINE}{word}, or {word}@{_USUAL}",
        )
    if kept.is_file():
        return Subject(word, load(kept), baseline=True)
    if places.cube.exists():
        return _of(word, places)
    known = [path.stem for path in sorted(BASELINES.glob("*.json"))]
    known += [f"{cube.parent.parent.name}@{cube.parent.name}" for cube in sorted(CAMPAIGNS.glob("*/*/cube.nc"))]
    own = [name for name in known if name.startswith(f"{word}@")]
    raise CollpressError(
        f'"{word}" names no cube and no baseline',
        where=f"{places.cube}, {kept}",
        allowed=ALLOWED,
        fix=f"did you mean {' or '.join(own)}?" if own else did_you_mean(word, known) or f"collpress run {word}",
    )
