"""Which points have a fidelity: the plan measures it of these, and a cube has its variables for these."""

from __future__ import annotations

from collections.abc import Mapping

FLOATS = ("float32", "float64")


def measures_fidelity(factors: Mapping[str, object]) -> bool:
    """Whether a point has a fidelity: floating-point values of a dataset. The pattern is made to be exact."""
    is_core = factors.get("backend", "mpi") == "mpi"  # the runner in Python calls no metrics
    return is_core and factors.get("dataset") != "pattern" and factors.get("dtype") in FLOATS
