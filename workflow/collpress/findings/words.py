"""Numbers and factors as words in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import floor, log10

from collpress.analysis.payoff import Rate
from collpress.analysis.points import Factors, Point
from collpress.analysis.ratios import Ratio
from collpress.analysis.sizes import iec
from collpress.usual import USUAL, words

_USUAL = {
    "dataset": "pattern",
    "dtype": "float32",
    "op": "sum",
    "nodes": 1,
    "codec": "none",
    "error_bound": "none",
    "wrap": "none",
}
"""Not worth a word."""
_NAMED = 4
"""Points named in a sentence."""


def place(factors: Factors) -> str:
    """Where: all factors but the algorithm, the codec and its bound.

    >>> place({"collective": "allreduce", "message_bytes": 4096, "ranks": 2, "dtype": "float32", "load": 30})
    'allreduce, 4 KiB, 2 ranks, load 30'
    """
    what = ("algorithm", "codec", "error_bound")
    said = (_factor(n, v) for n, v in factors.items() if n not in what and _USUAL.get(n) != v)
    return ", ".join(word for word in said if word)


def subject(point: Point) -> str:
    """What ran there: a codec with its bound where there is one, else the algorithm."""
    factors = point.factors
    kind, _, stem = str(factors["algorithm"]).partition(":")
    if kind == "compressed":
        words = [str(factors[n]) for n in ("codec", "error_bound") if factors[n] != "none"] or ["no codec"]
        return f"{' '.join(words)} in the {stem.replace('_', ' ')}"
    return "the library's choice" if stem == "default" else f"{stem.replace('_', ' ')} ({kind})"


def point(of: Point) -> str:
    """What ran, and where."""
    return f"{subject(of)}, {place(of.factors)}"


def faster(ratio: Ratio, than: str) -> str:
    """`1.80 times as fast as THAN (1.35 to 1.90, 95 % after the choice of the best of 9)`; the ratio is time of THAN
    over own time.
    """
    return f"{number(ratio.value)} times as fast as {than}{limits(ratio)}"


def slower(ratio: Ratio, than: str) -> str:
    """The same ratio the other way round, for what takes longer."""
    if ratio.low is None or ratio.high is None:
        return f"{number(1 / ratio.value)} times as long as {than}"
    turned = replace(ratio, low=1 / ratio.high, high=1 / ratio.low)
    return f"{number(1 / ratio.value)} times as long as {than}{limits(turned)}"


def limits(ratio: Ratio) -> str:
    """The limits with a blank before them; nothing where so few launches give none."""
    if ratio.low is None or ratio.high is None:
        return ""
    sure = percent(ratio.overall)
    sure = (
        f"with {sure} confidence" if ratio.choices == 1 else f"{sure} after the choice of the best of {ratio.choices}"
    )
    return f" ({number(ratio.low)} to {number(ratio.high)}, {sure})"


def number(value: float, digits: int = 3) -> str:
    """So many digits that count, no exponent between 0.001 and 1000; trailing zeros stay.

    >>> number(1.7991), number(0.87), number(128.2), number(2.5e-7), number(128.2, 2), number(2.96, 2)
    ('1.80', '0.870', '128', '2.50e-07', '130', '3.0')
    """
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 999.5:
        return f"{value:.{digits - 1}e}"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:.{max(0, digits - 1 - floor(log10(abs(rounded))))}f}"


def percent(share: float) -> str:
    """`0.95` as `95 %`."""
    return f"{100 * share:.3g} %"


def gbit(rate: Rate) -> str:
    """A link rate as `3.0 Gbit/s per rank (2.8 to 3.1)`; with one launch it has no limits, and says so."""
    value = f"{number(8e-9 * rate.value, 2)} Gbit/s per rank"
    if rate.low is None or rate.high is None:
        return f"{value} (one launch, no limits)"
    return f"{value} ({number(8e-9 * rate.low, 2)} to {number(8e-9 * rate.high, 2)})"


def none_ok(found: Sequence[Point], noun: str) -> str:
    """That none of some points is ok: their commonest status and reason, and which they are."""
    (status, reason), n = Counter((p.status, " ".join(p.reason.split())) for p in found).most_common(1)[0]
    those = [subject(p) for p in found if (p.status, " ".join(p.reason.split())) == (status, reason)]
    most = "" if n == len(found) else f"most often, {n} times, "
    names = ", ".join(those[:_NAMED]) + (", ..." if those[_NAMED:] else "")
    told = f"{status.replace('_', ' ')}: {reason or 'no reason given'}"
    return f"none of {count(len(found), noun)} is ok, {most}{told} ({names})"


def count(n: int, noun: str) -> str:
    """`1 point`, `2 points`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _factor(name: str, value: str | int) -> str:
    if name == "message_bytes":
        return iec(int(value)) if int(value) else ""  # a barrier has none
    if name in USUAL:
        return words(name, value)
    if name in ("ranks", "nodes"):
        return count(int(value), name[:-1])
    return str(value) if name in ("collective", "dataset", "dtype", "op") else f"{name.replace('_', ' ')} {value}"
