"""Independent values of Student's t with 4 degrees of freedom times `scale`: heavy tails, as gradients have."""

from __future__ import annotations

from collpress.data.arithmetic.quantiles import student_t4
from collpress.data.arithmetic.sampling import Values, independent


def field(seed: int, shape: tuple[int, ...], *, scale: float = 1.0) -> Values:
    """float32 of `shape`; element i depends on the seed and i only."""
    return independent(student_t4, seed, shape, scale)
