"""Speed and fidelity of every built codec on one core, beside memcpy, zfp and SZ3 in the same run.

./run bench codecs [--json] [--megabytes N]

Speeds (GB/s of uncompressed values) are medians of the repetitions, in which memcpy, compression and decompression
take turns; ratios and errors are exact. `max_error_over_bound` and `bias_over_bound` (mean of x' − x) are against the
bound that was asked for, or, for codecs without one, against what the codec states for these values. PSNR is against
the value range. Codecs are told the shape of the fields. SZ3 is there where pysz is installed (envs/sz3.txt): the
one of its two modes that makes less, with its speeds.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from collpress.codecs import Codec, CodecContext, Setting, sz3
from collpress.codecs.catalog import built_codecs
from collpress.codecs.outside import missing_library
from collpress.data.generate import generate
from collpress.errors import CollpressError
from collpress.layout import ROOT, dataset_file

Values = npt.NDArray[Any]
Shape = tuple[int, ...]
BOUNDS = (1e-2, 1e-3, 1e-4)
OURS = "deltapack"
FIELD = "synthetic/power-law"
PREPARED = ("colpex/theta", "colpex/pressure")


@dataclass
class Case:
    """One codec at one bound on one dataset: the context, its stream, and what was measured."""

    codec: Codec
    bound: float | None  # relative to the value range
    context: CodecContext
    stream: npt.NDArray[np.uint8]
    compress_s: list[float] = field(default_factory=list)
    decompress_s: list[float] = field(default_factory=list)
    used: int = 0


def page_aligned(count: int, dtype: npt.DTypeLike) -> Values:
    """An array on a page boundary, its pages touched."""
    bytes_ = count * np.dtype(dtype).itemsize
    memory = np.zeros(bytes_ + 4096, dtype=np.uint8)
    offset = -memory.ctypes.data % 4096
    return memory[offset : offset + bytes_].view(dtype)


def pin() -> int | None:
    """Keep this process on one core of those it may use; returns its number, None where that cannot be done."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def fidelity(values: Values, back: Values, value_range: float, stated: float) -> dict[str, float | None]:
    """Errors in float64, in pieces that fit the caches."""
    worst = total = squares = 0.0
    for at in range(0, values.size, 1 << 20):
        error = back[at : at + (1 << 20)].astype(np.float64) - values[at : at + (1 << 20)]
        worst = max(worst, float(np.abs(error).max()))
        total += float(error.sum())
        squares += float(np.dot(error, error))
    mean_square = squares / values.size
    return {
        "max_error_over_bound": worst / stated if stated > 0 else None,
        "bias_over_bound": total / values.size / stated if stated > 0 else None,
        "psnr_db": 10 * math.log10(value_range**2 / mean_square) if mean_square > 0 else None,
    }


def timed(function: Any, *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def repetitions(codec: Codec, wanted: int) -> int:
    """zfp takes a hundred times as long as a copy; two repetitions tell enough."""
    return min(wanted, 2) if codec.name.startswith("zfp") else wanted


def measure(dataset: str, values: Values, shape: Shape, codecs: list[Codec], wanted: int) -> list[dict[str, Any]]:
    """Rows for one dataset; `wanted` 0: no speeds."""
    row_and_plane = {"row": shape[-1] if len(shape) > 1 else 0, "plane": math.prod(shape[-2:]) if len(shape) > 2 else 0}
    value_range = float(values.max()) - float(values.min())
    largest = float(np.abs(values).max())
    back = page_aligned(values.size, values.dtype)
    rows: list[dict[str, Any]] = []
    copies: list[float] = []
    for codec in codecs:
        for bound in BOUNDS if codec.takes_bound else (None,):
            setting = Setting(None if bound is None else bound * value_range, **row_and_plane)
            with codec.context(values.dtype, setting=setting) as context:
                case = Case(codec, bound, context, page_aligned(context.max_bytes(values.size), np.uint8))
                for _ in range(max(1, repetitions(codec, wanted))):
                    copies.append(timed(ctypes.memmove, back.ctypes.data, values.ctypes.data, values.nbytes)[0])
                    seconds, case.used = timed(context.compress_into, values, case.stream)
                    case.compress_s.append(seconds)
                    case.decompress_s.append(timed(context.decompress_into, case.stream[: case.used], back)[0])
                rows.append(row(dataset, values, case, back, value_range, context.worst_error(largest), wanted > 0))
    if sz3.installed():
        rows += [sz3_row(dataset, values.reshape(shape), bound, value_range, wanted > 0) for bound in BOUNDS]
    if wanted > 0:
        speed = values.nbytes / statistics.median(copies) / 1e9
        memcpy = {"dataset": dataset, "codec": "memcpy", "bound": None, "ratio": 1.0, "max_error_over_bound": None}
        memcpy |= {"compress_gb_s": speed, "decompress_gb_s": speed, "bias_over_bound": None, "psnr_db": None}
        rows.insert(0, memcpy)
    return rows


def sz3_row(dataset: str, values: Values, bound: float, value_range: float, timings: bool) -> dict[str, Any]:
    """SZ3 once in each of its modes, and the row of the one that makes less."""
    found = []
    for mode in sz3.MODES:
        compress_s, stream = timed(sz3.compress, values, bound * value_range, mode)
        decompress_s, back = timed(sz3.decompress, stream, values.shape, values.dtype)
        found.append((stream.size, compress_s, decompress_s, back))
    size, compress_s, decompress_s, back = min(found, key=lambda one: int(one[0]))
    return {
        "dataset": dataset,
        "codec": "sz3",
        "bound": f"rel {_power(bound)}",
        "compress_gb_s": values.nbytes / compress_s / 1e9 if timings else None,
        "decompress_gb_s": values.nbytes / decompress_s / 1e9 if timings else None,
        "ratio": values.nbytes / size,
        **fidelity(values.ravel(), back.ravel(), value_range, bound * value_range),
    }


def row(
    dataset: str, values: Values, case: Case, back: Values, value_range: float, stated: float, timings: bool
) -> dict[str, Any]:
    speeds = {"compress_gb_s": case.compress_s, "decompress_gb_s": case.decompress_s}
    return {
        "dataset": dataset,
        "codec": case.codec.name,
        "bound": None if case.bound is None else f"rel {_power(case.bound)}",
        **{name: values.nbytes / statistics.median(s) / 1e9 if timings else None for name, s in speeds.items()},
        "ratio": values.nbytes / case.used,
        **fidelity(values, back, value_range, stated),
    }


def _power(bound: float) -> str:
    return f"1e{round(math.log10(bound))}"


def summarise(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """The telling numbers: ours at rel 1e-3 on the power-law field, and the worst error and bias of ours anywhere."""

    def find(codec: str, bound: str | None) -> dict[str, Any]:
        return next((r for r in rows if (r["dataset"], r["codec"], r["bound"]) == (FIELD, codec, bound)), {})

    def over(key: str, other: dict[str, Any]) -> float | None:
        return mine[key] / other[key] if mine and other else None

    mine, memcpy, zfp = find(OURS, "rel 1e-3"), find("memcpy", None), find("zfp", "rel 1e-3")
    all_mine = [r for r in rows if r["codec"] == OURS]
    return {
        "compress_over_memcpy": over("compress_gb_s", memcpy),
        "decompress_over_memcpy": over("decompress_gb_s", memcpy),
        "compress_over_zfp": over("compress_gb_s", zfp),
        "decompress_over_zfp": over("decompress_gb_s", zfp),
        "ratio_power_law_1e-3": mine.get("ratio"),
        "max_error_over_bound": max((r["max_error_over_bound"] for r in all_mine), default=None),
        "bias_over_bound": max((abs(r["bias_over_bound"]) for r in all_mine), default=None),
    }


def datasets(megabytes: int) -> list[tuple[str, Values, Shape]]:
    """The measured field and, for ratios and errors only, heavy tails and whatever real data are prepared."""
    side = round((megabytes * 2**20 / 4) ** (1 / 3))
    cube = (side, side, side)
    made: list[tuple[str, Values, Shape]] = []
    for name in ("power-law", "student-t"):
        values = page_aligned(side**3, np.float32)
        values[:] = generate(name, 1, cube).reshape(-1)
        made.append((f"synthetic/{name}", values, cube))
    for name in PREPARED:
        path = ROOT / dataset_file(name)
        if path.exists():
            shape = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["shape"]
            made.append((name, np.fromfile(path, dtype=np.float32), tuple(shape)))
    return made


def table(rows: list[dict[str, Any]]) -> str:
    def number(value: float | None, width: int, digits: int) -> str:
        return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}"

    head = f"{'dataset':<22}{'codec':<15}{'bound':<10}{'comp':>7}{'decomp':>8}{'ratio':>8}{'err/bound':>11}"
    lines = [f"{head}{'bias':>10}{'PSNR':>8}"]
    lines += [
        f"{r['dataset']:<22}{r['codec']:<15}{r['bound'] or '-':<10}"
        + number(r["compress_gb_s"], 7, 2)
        + number(r["decompress_gb_s"], 8, 2)
        + number(r["ratio"], 8, 2)
        + number(r["max_error_over_bound"], 11, 4)
        + number(r["bias_over_bound"], 10, 5)
        + number(r["psnr_db"], 8, 1)
        for r in rows
    ]
    return "\n".join([*lines, "", "comp, decomp: GB/s of uncompressed values; bias over bound; PSNR in dB"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--megabytes", type=int, default=64, help="size of the synthetic fields (default: 64 MiB)")
    parser.add_argument("--repetitions", type=int, default=7, help="timed rounds (default: 7)")
    args = parser.parse_args()
    try:
        codecs = built_codecs("local", ROOT)
    except CollpressError as error:
        print(f"bench codecs: {error}", file=sys.stderr)
        return error.exit_code
    usable, missing = [], {}
    for codec in codecs:
        try:
            with codec.context(codec.dtypes[0], 1.0):
                usable.append(codec)
        except CollpressError as error:
            missing[codec.name] = missing_library(codec.name) or str(error)
    if not sz3.installed():
        missing["sz3"] = f"pysz is not installed (fix: {sz3.HOW_TO_GET})"
    for name, why in missing.items():
        print(f"bench codecs: {name} is left out: {why}", file=sys.stderr)
    core = pin()
    rows: list[dict[str, Any]] = []
    for name, values, shape in datasets(args.megabytes):
        applicable = [codec for codec in usable if values.dtype.name in codec.dtypes]
        rows += measure(name, values, shape, applicable, args.repetitions if name == FIELD else 0)
    machine = {"host": platform.node(), "architecture": platform.machine(), "core": core, "numpy": np.__version__}
    if args.json:
        print(json.dumps({"machine": machine, "rows": rows, "summary": summarise(rows)}, indent=1))
    else:
        print(table(rows))
        for key, value in summarise(rows).items():
            print(f"{key}: {'-' if value is None else f'{value:.4g}'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
