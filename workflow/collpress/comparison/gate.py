"""Whether a comparison passes: what it must not show, what it must hold, and the exit code that tells which it was."""

from __future__ import annotations

import re
from dataclasses import dataclass

from collpress.analysis.comparison import Comparison, Odd, Pair
from collpress.analysis.ratios import FEWEST
from collpress.analysis.regression import Judgement
from collpress.comparison.words import percent, point, ratio_words
from collpress.errors import CollpressError, IncompleteError

_RULE = re.compile(r"\s*slower\s*>\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


class RegressionError(CollpressError):
    """Points are shown to be slower than they may be."""

    exit_code = 4


@dataclass(frozen=True)
class Gate:
    """What was asked for.

    threshold : B may take (1 + threshold) times as long as A; None: nothing fails for being slow.
    require_all : every point that can run on either side must be compared, with launches enough to be judged.
    """

    threshold: float | None
    require_all: bool

    @property
    def rule(self) -> str:
        """`slower > 5 %`; empty where nothing fails for being slow."""
        return "" if self.threshold is None else f"slower > {percent(self.threshold)}"

    def missing(self, comparison: Comparison) -> list[Odd | Pair]:
        """Points that `require_all` asks for and that are not compared, or without the launches to judge them."""
        few = [pair for pair in comparison.pairs if pair.verdict == "not comparable"]
        return [*(odd for odd in comparison.odd if not odd.excused), *few]

    def check(self, comparison: Comparison, judgement: Judgement, where: str) -> None:
        """Raise the first that applies: nothing compared (exit code 2), regressions (4), points missing (3)."""
        blind = self.blind(comparison)
        if blind is not None:
            raise CollpressError(blind[0], where=where, fix=blind[1])
        found = judgement.regressions if self.threshold is not None else []
        missing = self.missing(comparison) if self.require_all else []
        also = f"; besides, {len(missing)} points are not compared" if missing else ""
        if found:
            worst = found[0].pair
            raise RegressionError(
                f"{len(found)} of {len(judgement.judged)} points are regressions ({self.rule}, {comparison.metric}); "
                f"the worst: {point(worst.experiment, worst.factors)}: {ratio_words(worst)}{also}",
                where=where,
            )
        if missing:
            first = missing[0]
            raise IncompleteError(
                f"{len(missing)} points that one side has are not compared; the first: "
                f"{point(first.experiment, first.factors)}: {first.reason}",
                where=where,
                fix="measure them, or leave out --require-all",
            )

    def blind(self, comparison: Comparison) -> tuple[str, str] | None:
        """Why nothing could fail, and how to mend that; None where something could have been shown."""
        if not comparison.pairs:
            return "no point is ok in both: there is nothing to compare", ""
        if self.threshold is None or comparison.judged:
            return None
        if any(pair.same_launches for pair in comparison.pairs):
            return (
                "A and B hold the very same launches: nothing was measured again, nothing could fail",
                "measure B, then compare it with what was measured before",
            )
        return (
            f"none of {len(comparison.pairs)} points has the launches to be judged: nothing could fail",
            f"raise the campaign's launches to {FEWEST} or more, on both sides",
        )


def threshold(text: str) -> float:
    """`slower > 5 %` as 0.05. Errors: it is no such rule."""
    found = _RULE.fullmatch(text)
    if found is None:
        fix = "compare B with A to ask the other way round" if "faster" in text else ""
        raise CollpressError(
            f'"{text}" is no rule to fail by', where="--fail-if", allowed="'slower > NUMBER %'", fix=fix
        )
    return float(found[1]) / 100
