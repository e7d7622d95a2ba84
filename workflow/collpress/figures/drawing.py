"""What a figure's module hands back: the picture, exactly the numbers it shows, and the words under it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """Rows of a CSV file; a missing number is None and becomes an empty field."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Table:
        """Pick `columns` from mappings; KeyError where one lacks a column."""
        return cls(tuple(columns), tuple(tuple(row[c] for c in columns) for row in rows))

    def csv(self) -> str:
        """RFC 4180 with `\\n`; floats with the fewest digits that read back to the same number."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(
            ["" if v is None else repr(v) if isinstance(v, float) else v for v in row] for row in self.rows
        )
        return out.getvalue()


@dataclass(frozen=True)
class Drawing:
    """A figure before it is written."""

    figure: Figure
    table: Table
    caption: str
