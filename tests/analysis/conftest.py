"""Comparisons are made of the groups of fabricated cubes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "cube"))
