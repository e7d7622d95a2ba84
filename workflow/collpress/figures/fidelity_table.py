"""Fidelity table: what compression leaves of a result, in numbers, a row per algorithm, codec and bound.

A block per data, message size and world. Metrics that the campaign did not measure have no column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from collpress.analysis.table import Row
from collpress.figures import style
from collpress.figures.blocks import WIDTH, Block, page, page_height
from collpress.figures.captions import experiments, machine
from collpress.figures.choice import Group, chosen, entries, factor_names, groups, omissions
from collpress.figures.drawing import Drawing, Table
from collpress.figures.lines import names as line_names
from collpress.figures.marks import MARKS, said

_NAMES, _HEAD, _LETTERS, _RULE = 0.88, 0.2, 5.2, 0.4
_ROW: Mapping[style.Width, float] = {"double": 0.115, "single": 0.115}
_LEAST_ROW = 0.09
"""Inches; letters and rules in points."""
_WIDE = (
    ("result_max_error", "max_error_value"),
    ("result_bias", "bias_value"),
    ("result_ssim", "ssim_value"),
    ("result_max_relative_error", "max_relative_error_value"),
)
"""Metrics of several values, and the dimension of these."""


@dataclass(frozen=True)
class Column:
    """One number of a row; `of` gives it, None where it is not known."""

    name: str
    head: str
    needs: tuple[str, ...]
    of: Callable[[Row], float | None]
    best: Callable[[Sequence[float]], float] | None
    """Picks the best of a block's numbers, which is set bold; None: none is best, and all have three decimals."""


def _ratio_of(above: str, below: str) -> Callable[[Row], float | None]:
    def of(row: Row) -> float | None:
        return row[above] / row[below] if row[above] is not None and row[below] else None

    return of


def _plain(variable: str) -> Callable[[Row], float | None]:
    return lambda row: None if row[variable] is None else float(row[variable])


def _off(variable: str) -> Callable[[Row], float | None]:
    return lambda row: None if row[variable] is None else abs(1 - float(row[variable]))


COLUMNS = (
    Column("ratio", "ratio", ("raw_bytes", "compressed_bytes"), _ratio_of("raw_bytes", "compressed_bytes"), max),
    Column("psnr_db", "PSNR\n(dB)", ("result_psnr",), _plain("result_psnr"), max),
    Column("nrmse", "", ("result_nrmse",), _plain("result_nrmse"), min),  # in the CSV only: PSNR says the same
    Column("mae", "MAE", ("result_mae",), _plain("result_mae"), min),
    Column(
        "max_error_over_bound",
        "max err\n/ bound",
        ("result_max_error_absolute", "result_bound"),
        _ratio_of("result_max_error_absolute", "result_bound"),
        None,
    ),
    Column(
        "bias_over_bound", "bias\n/ bound", ("result_bias_bias", "result_bound"),
        _ratio_of("result_bias_bias", "result_bound"), None,
    ),
    Column("cosine_off_1", "1 − cos", ("result_cosine",), _off("result_cosine"), min),
    Column("ssim_off_1", "1 − SSIM", ("result_ssim_mean",), _off("result_ssim_mean"), min),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sheet:
    """The rows of one group: names, numbers by column (None: not known), and why there are none."""

    group: Group
    names: Sequence[str]
    numbers: Sequence[Mapping[str, float | None]]
    reasons: Sequence[str]


def draw(cube: xr.DataTree, width: style.Width = "double") -> Drawing:
    """The figure; a row without numbers says why, and so does a cube that no codec ran for."""
    sheets: list[Sheet] = []
    names: list[str] = []
    for experiment, dataset in experiments(cube).items():
        sheets += [_sheet(group) for group in groups(experiment, dataset, _points(dataset))]
        names += [n for n in factor_names(dataset) if n not in names]
    known = {name for sheet in sheets for n in sheet.numbers for name, number in n.items() if number is not None}
    columns = [c for c in COLUMNS if c.head and c.name in known]
    notes = [] if sheets else ["No point of this campaign compresses: there is no fidelity to show."]
    full = [sheet for sheet in sheets if not all(sheet.reasons)]
    if full:
        notes += omissions([sheet.group for sheet in sheets if sheet not in full])

    def blocks(row: float) -> list[Block]:
        return [_block(sheet, columns, row) for sheet in full or sheets]

    row = style.fitted(_ROW[width], _LEAST_ROW, lambda row: page_height(width, blocks(row), None, notes))
    return Drawing(page(width, blocks(row), None, notes), _table(sheets, names), _caption(cube, sheets))


def _points(dataset: xr.Dataset) -> list[Row]:
    """The points that compress."""
    for variable, dimension in _WIDE:
        dataset = entries(dataset, variable, dimension, f"{variable}_")
    needed = [*dict.fromkeys(n for column in COLUMNS for n in column.needs), "n_ok"]
    return [row for row in chosen(dataset, needed) if str(row["algorithm"]).startswith("compressed:")]


def _sheet(group: Group) -> Sheet:
    keys = [(str(p["algorithm"]), str(p["codec"]), str(p["error_bound"])) for p in group.points]
    called = line_names(keys)
    numbers = [{c.name: _finite(c.of(point)) for c in COLUMNS} for point in group.points]
    reasons = [_why_not(point, found) for point, found in zip(group.points, numbers, strict=True)]
    return Sheet(group, [called[key] for key in keys], numbers, reasons)


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _why_not(point: Row, numbers: Mapping[str, float | None]) -> str:
    status = str(point["status"])
    if status != "ok":
        return f"{MARKS[status].glyph} {said(status)}"
    return "" if any(number is not None for number in numbers.values()) else "no fidelity in the cube"


def _block(sheet: Sheet, columns: Sequence[Column], row: float) -> Block:
    height = _HEAD + row * len(sheet.names)
    each = (WIDTH - _NAMES) / max(len(columns), 1)
    best = {column.name: _best(column, sheet) for column in columns}

    def put(figure: Figure, left: float, top: float, last: bool) -> None:  # nothing stands below
        rights = [left + _NAMES + each * (i + 1) for i in range(len(columns))]
        for column, right in zip(columns, rights, strict=True):
            style.text_at(
                figure, right, top + _HEAD - 0.03, column.head, fontsize=_LETTERS, ha="right", va="bottom",
                color=style.FAINT, linespacing=0.9,
            )  # fmt: skip
        _rule(figure, left, top + _HEAD - 0.015)
        for i, (name, numbers, reason) in enumerate(zip(sheet.names, sheet.numbers, sheet.reasons, strict=True)):
            middle = top + _HEAD + row * (i + 0.5)
            text = style.shortened(name, _LETTERS, _NAMES - 0.05, keep="end")
            style.text_at(figure, left, middle, text, fontsize=_LETTERS, va="center")
            if reason:
                style.text_at(figure, left + _NAMES, middle, reason, fontsize=_LETTERS, va="center", color=style.FAINT)
                continue
            for column, right in zip(columns, rights, strict=True):
                number = numbers[column.name]
                weight = "bold" if number is not None and number == best[column.name] else "normal"
                style.text_at(
                    figure, right, middle, _shown(column, number), fontsize=_LETTERS, ha="right", va="center",
                    fontweight=weight,
                )  # fmt: skip

    return Block(sheet.group.experiment, sheet.group.factors, height, 0.0, put)


def _best(column: Column, sheet: Sheet) -> float | None:
    pairs = zip(sheet.group.points, sheet.numbers, strict=True)
    found = [n for point, numbers in pairs if point["codec"] != "none" and (n := numbers[column.name]) is not None]
    return column.best(found) if column.best is not None and len(found) > 1 else None


def _rule(figure: Figure, left: float, top: float) -> None:
    axes = style.axes_at(figure, left, top, WIDTH, 0.01)
    axes.set_axis_off()
    axes.axhline(0.5, color=style.INK, linewidth=_RULE)


def _shown(column: Column, number: float | None) -> str:
    return written(number) if column.best or number is None else f"{round(number, 3) + 0.0:.3f}".replace("-", "−")


def written(number: float | None) -> str:
    """A number in at most three digits.

    >>> [written(x) for x in (None, 0.0, 64.83, 4.624, 0.99912, -0.0021, 2.2e-5)]
    ['–', '0', '64.8', '4.62', '0.999', '−0.002', '2.2e−5']
    """
    if number is None:
        return "–"
    if number == 0:
        return "0"
    if abs(number) >= 1e4 or abs(number) < 1e-3:
        mantissa, _, exponent = f"{number:.1e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    digits = 1 if abs(number) >= 10 else 2 if abs(number) >= 1 else 3
    return f"{number:.{digits}f}".replace("-", "−")


def _table(sheets: Sequence[Sheet], names: Sequence[str]) -> Table:
    own = ["id", "status", "reason", "n_ok"]
    out: list[dict[str, Any]] = [
        {"experiment": sheet.group.experiment} | {n: point.get(n) for n in [*names, *own]} | dict(numbers)
        for sheet in sheets
        for point, numbers in zip(sheet.group.points, sheet.numbers, strict=True)
    ]
    return Table.of(["experiment", *names, *own, *(c.name for c in COLUMNS)], out)


def _caption(cube: xr.DataTree, sheets: Sequence[Sheet]) -> str:
    drawn = sum(not reason for sheet in sheets for reason in sheet.reasons)
    planned = sum(len(sheet.reasons) for sheet in sheets)
    return (
        "Fidelity of rank 0's result against the float64 oracle. Ratio: bytes of rank 0's own message over those of "
        "its stream. PSNR refers to the value range of the exact result; the bound is what the algorithm "
        "makes of the codec's bound over all ranks, and the rounding of the plain sum; codecs that take none are held "
        "against the one that they state themselves. SSIM: structural similarity, mean over windows. Bold: the best "
        "codec of its column in the block, whatever the other columns say. A dash: not defined for these data, or not "
        "measured. "
        f"{drawn} of {planned} points that compress have numbers, medians over {cube.attrs['launches']} launches; "
        f"values are deterministic for a launch's data, so that no confidence limits apply. {machine(cube)}"
    )
