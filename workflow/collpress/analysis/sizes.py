"""Sizes in bytes as people say them."""

from __future__ import annotations


def iec(size: int) -> str:
    """A size in bytes with binary prefixes.

    >>> iec(8), iec(4096), iec(3 * 2**19)
    ('8 B', '4 KiB', '1.5 MiB')
    """
    value, units = float(size), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.4g} {units[0]}"
