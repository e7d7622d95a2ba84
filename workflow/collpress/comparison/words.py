"""Times, sizes, probabilities and points as a comparison says them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collpress.analysis.sizes import iec

if TYPE_CHECKING:
    from collpress.analysis.comparison import Pair
    from collpress.analysis.measured import Factors

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def seconds(value: float) -> str:
    """
    >>> seconds(3.456e-6), seconds(0.0123), seconds(2.0)
    ('3.46 us', '12.3 ms', '2 s')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def percent(share: float) -> str:
    """
    >>> percent(0.05), percent(0.125)
    ('5 %', '12.5 %')
    """
    return f"{100 * share:.4g} %"


def size(count: int) -> str:
    """Bytes with a binary prefix where that says all, so that two sizes never look the same.

    >>> size(4096), size(1_000_003)
    ('4 KiB', '1000003 B')
    """
    said = iec(count)
    value, unit = said.split(" ")
    return said if float(value) * 1024 ** _UNITS.index(unit) == count else f"{count} B"


def factor(name: str, value: int | str) -> str:
    """A factor's value in a column of its name."""
    return size(value) if name == "message_bytes" and isinstance(value, int) else str(value)


def point(experiment: str, factors: Factors) -> str:
    """A point in a list: its experiment and what is not at rest.

    >>> point("tuning", {"algorithm": "library:ring", "codec": "none", "message_bytes": 4096, "ranks": 2})
    'tuning: library:ring, 4 KiB, 2 ranks'
    """
    plural = {"ranks": "rank", "nodes": "node"}
    said = [
        f"{value} {plural[name]}{'' if value == 1 else 's'}" if name in plural else factor(name, value)
        for name, value in factors.items()
        if value not in ("none", "pattern") and (name, value) not in (("nodes", 1), ("op", "sum"))
    ]
    return f"{experiment}: {', '.join(said)}"


def limits(pair: Pair) -> str:
    """`0.97 .. 1.1`."""
    low, high = pair.ratio.low, pair.ratio.high
    return "too few launches" if low is None or high is None else f"{low:.3g} .. {high:.3g}"


def ratio_words(pair: Pair) -> str:
    """`1.21 times as long as A (1.15 .. 1.3, 95 %), 2.42 us for 2 us`."""
    of_a, of_b = pair.medians
    times = f"{seconds(of_b)} for {seconds(of_a)}"
    return f"{pair.ratio.value:.3g} times as long as A ({limits(pair)}, {percent(pair.ratio.confidence)}), {times}"
