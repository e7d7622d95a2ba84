"""Which points have a fidelity: the plan measures it of these, and a cube has its variables for these. And what a shape
is to those who see values in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

FLOATS = ("float32", "float64")


def measures_fidelity(factors: Mapping[str, object]) -> bool:
    """Whether a point has a fidelity: floating-point values of a dataset. The pattern is made to be exact."""
    is_core = factors.get("backend", "mpi") == "mpi"  # the runner in Python calls no metrics
    return is_core and factors.get("dataset") != "pattern" and factors.get("dtype") in FLOATS


def grain(shape: Sequence[int], parts: int | None = None) -> tuple[int, int]:
    """Elements of a row and of a plane of an array in C order, axes of length 1 not counted; 0 where it has none.

    Parameters
    ----------
    parts : the first axis counts so many arrays, one for each rank; None: it is one array.
    """
    axes = [length for length in (shape if parts is None else shape[1:]) if length != 1]
    return (axes[-1] if len(axes) > 1 else 0), (math.prod(axes[-2:]) if len(axes) > 2 else 0)
