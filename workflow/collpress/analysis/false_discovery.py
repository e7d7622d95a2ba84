"""Many tests at once: p-values adjusted so that of what is claimed only a small share is expected to be false.

Benjamini and Hochberg 1995, the step-up procedure: it holds for independent tests, and for those that go up and down
together (Benjamini and Yekutieli 2001), as the points of one launch do on a noisy machine.
"""

from __future__ import annotations

from collections.abc import Sequence


def adjusted(p: Sequence[float]) -> list[float]:
    """The false discovery rate at which each test just counts as a discovery, in the order of `p`.

    >>> adjusted([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    out = [1.0] * len(p)
    least = 1.0
    for place, index in reversed(list(enumerate(sorted(range(len(p)), key=lambda i: p[i]), start=1))):
        least = min(least, p[index] * len(p) / place)
        out[index] = least
    return out


def fewest_together(smallest: Sequence[float], rate: float) -> int | None:
    """How many tests must reach their smallest possible p at once, so that any is a discovery at `rate`.

    None where even all of them together are none.

    >>> fewest_together([1 / 252] * 250, 0.05), fewest_together([0.1] * 3, 0.05)
    (20, None)
    """
    ordered = sorted(smallest)
    return next((k for k, p in enumerate(ordered, start=1) if p * len(ordered) <= k * rate), None)
