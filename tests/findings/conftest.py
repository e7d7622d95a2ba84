"""Findings in cubes of fabricated campaigns; nothing here was measured."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "cube"))
