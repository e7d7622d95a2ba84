"""Speed, ratio and fidelity of every built codec on one core, beside memcpy, zfp and SZ3 in the same run.

./run bench codecs [--json] [--megabytes N]

Speeds (GB/s of uncompressed values) are medians of repetitions in which a memcpy, compression, decompression, and
where a codec has them accumulation and addition of streams, take turns; `over memcpy` is against the copies of the same
turns. Ratios and errors are exact. `max_error_over_bound` and `bias_over_bound` (mean of x' − x) are against the bound
that was asked for, or, for codecs without one, against what the codec states for these values. PSNR is against the
value range.
Codecs are told the shape of the fields. SZ3 is there where pysz is installed (envs/sz3.txt): the one of its two modes
that makes less, with its speeds. `truncating` is no codec here: the bytes that fixed-length coding of differences of
truncated values would take (as fZ-light, cuSZp: bins of one bound, blocks of 32, a sign and the bits of the widest for
each), which are computed.

The summary has the worst over the data sets: deltapack at rel 1e-3 for speeds and `ratio_over_truncating`; all bounds
for its errors and bias; deltapack-dense at rel 1e-3 and 1e-4 beside SZ3.
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
from collections.abc import Callable
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
Row = dict[str, Any]
BOUNDS = (1e-2, 1e-3, 1e-4)
FAST, DENSE = "deltapack", "deltapack-dense"
SYNTHETIC = ("power-law", "student-t")
TIMED = ("smollm2-grad/subset",)
"""Prepared data that are long enough to be timed; the first 64 MiB of it."""
PREPARED = ("colpex/theta", "colpex/pressure")
"""For ratios and errors only."""
LONGEST_S = 2.0
"""Seconds after which no further repetition of a case begins; two are always made."""


@dataclass(frozen=True)
class Data:
    """Values of one data set; `timed`: long enough to measure speeds with."""

    name: str
    values: Values
    shape: Shape
    timed: bool

    @property
    def range(self) -> float:
        return float(self.values.max()) - float(self.values.min())

    @property
    def strides(self) -> dict[str, int]:
        """What a codec is told of the shape."""
        row = self.shape[-1] if len(self.shape) > 1 else 0
        return {"row": row, "plane": row * self.shape[-2] if len(self.shape) > 2 else 0}


@dataclass
class Case:
    """One codec at one bound on one data set: the context, its streams, and what was measured, in seconds."""

    codec: Codec
    context: CodecContext
    stream: npt.NDArray[np.uint8]
    used: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def turn(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)
        return result

    def speed(self, name: str, bytes_: int) -> float | None:
        """GB/s."""
        return bytes_ / statistics.median(self.seconds[name]) / 1e9 if name in self.seconds else None


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
        "psnr_db": 10 * math.log10(value_range**2 / mean_square) if 0 < mean_square < math.inf else None,
    }


def truncating_bytes(values: Values, abs_bound: float, block: int = 32) -> int:
    """Bytes of fixed-length coding of the differences of truncated values; see the top."""
    bins = np.trunc(values.astype(np.float64) / abs_bound)
    differences = np.abs(np.diff(bins, prepend=0.0))
    whole = np.concatenate([differences, np.zeros(-differences.size % block)]).reshape(-1, block).max(axis=1)
    bits = np.where(whole > 0, np.floor(np.log2(np.maximum(whole, 1))) + 1, 0)
    return int(np.where(bits > 0, 1 + block // 8 + np.ceil(block * bits / 8), 1).sum())


def measure(data: Data, codecs: list[Codec], wanted: int) -> list[Row]:
    """Rows for one data set; `wanted`: repetitions."""
    back, other = page_aligned(data.values.size, data.values.dtype), page_aligned(data.values.size, data.values.dtype)
    other[:] = np.roll(data.values, data.values.size // 3)
    rows: list[Row] = []
    for codec in codecs:
        for bound in BOUNDS if codec.takes_bound else (None,):
            setting = Setting(None if bound is None else bound * data.range, **data.strides)
            with codec.context(data.values.dtype, setting=setting) as context:
                case = Case(codec, context, page_aligned(context.max_bytes(data.values.size), np.uint8))
                take_turns(case, data, other, back, wanted if data.timed else 1)
                rows.append(row(data, case, bound, back))
    for bound in BOUNDS:
        if sz3.installed():
            rows.append(sz3_row(data, bound))
        size = truncating_bytes(data.values, bound * data.range)
        rows.append(_row(data, "truncating", bound) | {"ratio": data.values.nbytes / size})
    return rows


def take_turns(case: Case, data: Data, other: Values, back: Values, wanted: int) -> None:
    """Measure a case; `back` then holds what came back of the data."""
    context, values = case.context, data.values
    added = 0
    if case.codec.adds and data.timed:
        second = page_aligned(case.stream.size, np.uint8)
        added = context.compress_into(other, second)
        total = page_aligned(case.stream.size, np.uint8)
    start = time.perf_counter()
    for n in range(wanted):
        if n > 1 and time.perf_counter() - start > LONGEST_S:
            break
        case.turn("memcpy", ctypes.memmove, back.ctypes.data, values.ctypes.data, values.nbytes)
        case.used = case.turn("compress", context.compress_into, values, case.stream)
        stream = case.stream[: case.used]
        if case.codec.accumulates and data.timed:
            case.turn("accumulate", context.accumulate, stream, back)
        if added:
            case.turn("add", context.add_into, stream, second[:added], values.size, total)
        case.turn("decompress", context.decompress_into, stream, back)


def row(data: Data, case: Case, bound: float | None, back: Values) -> Row:
    stated = case.context.worst_error(float(np.abs(data.values).max()))
    stated = stated if math.isfinite(stated) else 0.0
    found = _row(data, case.codec.name, bound) | fidelity(data.values, back, data.range, stated)
    found["ratio"] = data.values.nbytes / case.used
    copy = case.speed("memcpy", data.values.nbytes)
    for name in ("compress", "decompress", "accumulate", "add") if data.timed else ():
        speed = case.speed(name, data.values.nbytes)
        found[f"{name}_gb_s"] = speed
        found[f"{name}_over_memcpy"] = speed / copy if speed and copy else None
    return found


def sz3_row(data: Data, bound: float) -> Row:
    """SZ3 once in each of its modes, and the row of the one that makes less."""
    found = []
    for mode in sz3.MODES:
        start = time.perf_counter()
        stream = sz3.compress(data.values.reshape(data.shape), bound * data.range, mode)
        between = time.perf_counter()
        back = sz3.decompress(stream, data.shape, data.values.dtype)
        found.append((stream.size, between - start, time.perf_counter() - between, back))
    size, compress_s, decompress_s, back = min(found, key=lambda one: int(one[0]))
    out = _row(data, "sz3", bound) | fidelity(data.values, back.ravel(), data.range, bound * data.range)
    speeds = {"compress_gb_s": data.values.nbytes / compress_s / 1e9}
    speeds |= {"decompress_gb_s": data.values.nbytes / decompress_s / 1e9}
    return out | {"ratio": data.values.nbytes / size} | (speeds if data.timed else {})


def _row(data: Data, codec: str, bound: float | None) -> Row:
    return {"dataset": data.name, "codec": codec, "bound": None if bound is None else _text(bound)}


def _text(bound: float) -> str:
    return f"rel 1e{round(math.log10(bound))}"


def summarise(rows: list[Row]) -> dict[str, float | None]:
    """The worst over the data sets; see the top."""
    by = {(r["dataset"], r["codec"], r["bound"]): r for r in rows}
    names = list(dict.fromkeys(r["dataset"] for r in rows))

    def worst(key: str, codec: str, bounds: tuple[float, ...]) -> float | None:
        found = [by[n, codec, _text(b)].get(key) for n in names for b in bounds if (n, codec, _text(b)) in by]
        return min((x for x in found if x is not None), default=None)

    def over(key: str, codec: str, other: str, bounds: tuple[float, ...]) -> float | None:
        pairs = [(by.get((n, codec, _text(b)), {}), by.get((n, other, _text(b)), {})) for n in names for b in bounds]
        return min((a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)), default=None)

    ours = [r for r in rows if r["codec"] in (FAST, DENSE)]
    both = ("compress_over_memcpy", "decompress_over_memcpy")
    return {
        "compress_over_memcpy": worst("compress_over_memcpy", FAST, (1e-3,)),
        "decompress_over_memcpy": worst("decompress_over_memcpy", FAST, (1e-3,)),
        "compress_over_zfp": over("compress_gb_s", FAST, "zfp", (1e-3,)),
        "compress_over_sz3": over("compress_gb_s", FAST, "sz3", (1e-3,)),
        "ratio_over_truncating": over("ratio", FAST, "truncating", (1e-3,)),
        "max_error_over_bound": max((r["max_error_over_bound"] for r in ours), default=None),
        "bias_over_bound": max((abs(r["bias_over_bound"]) for r in ours), default=None),
        "dense_ratio_over_sz3": over("ratio", DENSE, "sz3", (1e-3, 1e-4)),
        "dense_speed_over_sz3": over("compress_gb_s", DENSE, "sz3", (1e-3, 1e-4)),
        "dense_compress_gb_s": worst("compress_gb_s", DENSE, (1e-3, 1e-4)),
        "add_over_memcpy": worst("add_over_memcpy", FAST, (1e-3,)),
        "accumulate_over_memcpy": worst("accumulate_over_memcpy", FAST, (1e-3,)),
        "int8_over_memcpy": min((r[k] for r in rows if r["codec"] == "int8" for k in both if k in r), default=None),
    }


def data_sets(megabytes: int) -> list[Data]:
    """Random fields, and whatever real data are prepared."""
    side = round((megabytes * 2**20 / 4) ** (1 / 3))
    made = []
    for name in SYNTHETIC:
        values = page_aligned(side**3, np.float32)
        values[:] = generate(name, 1, (side,) * 3).reshape(-1)
        made.append(Data(f"synthetic/{name}", values, (side,) * 3, timed=True))
    for name in (*TIMED, *PREPARED):
        path = ROOT / dataset_file(name)
        if not path.exists():
            print(
                f"bench codecs: {name} is left out: it is not prepared (fix: ./run collpress dataset get {name})",
                file=sys.stderr,
            )
            continue
        shape = tuple(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["shape"])
        file = np.memmap(path, dtype=np.float32, mode="r")
        timed = name in TIMED
        values = page_aligned(min(file.size, megabytes * 2**18) if timed else file.size, np.float32)
        values[:] = file[: values.size]
        made.append(Data(name, values, (values.size,) if timed else shape, timed))
    return made


def table(rows: list[Row]) -> str:
    def number(value: float | None, width: int, digits: int) -> str:
        return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}"

    columns = (
        ("compress_gb_s", "comp", 7, 2), ("compress_over_memcpy", "/copy", 7, 2), ("decompress_gb_s", "decomp", 8, 2),
        ("decompress_over_memcpy", "/copy", 7, 2), ("accumulate_over_memcpy", "accum/", 7, 2),
        ("add_over_memcpy", "add/", 6, 2), ("ratio", "ratio", 8, 2), ("max_error_over_bound", "err/bound", 11, 4),
        ("bias_over_bound", "bias", 10, 5), ("psnr_db", "PSNR", 8, 1),
    )  # fmt: skip
    lines = [f"{'data':<22}{'codec':<17}{'bound':<10}" + "".join(f"{head:>{width}}" for _, head, width, _ in columns)]
    for r in rows:
        numbers = "".join(number(r.get(key), width, digits) for key, _, width, digits in columns)
        lines.append(f"{r['dataset']:<22}{r['codec']:<17}{r['bound'] or '-':<10}{numbers}")
    told = "comp, decomp: GB/s of uncompressed values; /copy, accum/, add/: over memcpy; bias over bound; PSNR in dB"
    return "\n".join([*lines, "", told])


def usable(codecs: list[Codec]) -> list[Codec]:
    """Those whose libraries are there; the others are named."""
    found = []
    missing = {} if sz3.installed() else {"sz3": f"pysz is not installed (fix: {sz3.HOW_TO_GET})"}
    for codec in codecs:
        try:
            with codec.context(codec.dtypes[0], 1.0):
                found.append(codec)
        except CollpressError as error:
            missing[codec.name] = missing_library(codec.name) or str(error)
    for name, why in missing.items():
        print(f"bench codecs: {name} is left out: {why}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--megabytes", type=int, default=64, help="size of the timed data (default: 64 MiB)")
    parser.add_argument("--repetitions", type=int, default=9, help="timed rounds (default: 9)")
    parser.add_argument("--codecs", nargs="+", metavar="NAME", help="only these, beside SZ3 and truncating")
    args = parser.parse_args()
    try:
        codecs = usable(built_codecs("local", ROOT))
    except CollpressError as error:
        print(f"bench codecs: {error}", file=sys.stderr)
        return error.exit_code
    codecs = [codec for codec in codecs if args.codecs is None or codec.name in args.codecs]
    core = pin()
    rows: list[Row] = []
    for data in data_sets(args.megabytes):
        rows += measure(data, [codec for codec in codecs if data.values.dtype.name in codec.dtypes], args.repetitions)
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
