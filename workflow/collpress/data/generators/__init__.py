"""Seeded generators, one a module: `field(seed, shape, **parameters)` returns float32; the module names it.

A module's docstring says what it makes; its keyword-only parameters are those that the registry may set. See
`collpress.data.generate`.
"""

from __future__ import annotations

import pkgutil


def names() -> list[str]:
    """The generators by name, with `-` for the modules' `_`; imports none of them."""
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__))
