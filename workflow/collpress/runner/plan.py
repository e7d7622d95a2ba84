"""The plan: the points that one launch measures (docs/contracts.md, "Plan file")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collpress.collectives import COLLECTIVES, ROOTED, UNEVEN
from collpress.runner.dtypes import DTYPES, Dtype
from collpress.runner.exchange import IMBALANCES, IN_PLACE, Exchange, block_counts
from collpress.runner.line import Line, PlanError

FIRST_LINE = "collpress-plan\t1"
KNOWN_KEYS = (
    "key", "id", "collective", "algorithm", "plugin", "tagged_plugin", "codec", "codec_plugin",
    "codec_parameters", "bound", "bound_value", "target", "dtype", "op", "message_bytes", "root", "buffers", "call",
    "imbalance", "imbalance_seed",
    "segment_bytes", "fanout", "proof", "consistent_with", "sync", "cache", "alignment", "feedback", "data",
    "data_path", "data_elements", "data_unique_bytes", "data_dtype", "data_parts", "row", "plane", "wrap",
    "wrap_seed", "wrap_amplitude", "warmup", "min_iterations", "max_iterations", "precision", "at_most", "at_least",
    "instrumented", "metrics", "backend",
)  # fmt: skip
OPS = ("sum", "max", "min", "prod")
ORIGINS = ("library", "reference", "compressed")
SYNCS = ("dissemination", "barrier", "window", "none")
WRAPS = ("none", "mirror", "perturb", "repeat")


@dataclass(frozen=True)
class FileData:
    """Values from a file.

    elements : of the whole file. unique_bytes : of it, before its values begin to repeat themselves.
    is_bfloat16 : the file's elements are that; else of the point's dtype.
    parts : None for one field that is cut into slices. wrap : how a part goes on behind its end.
    """

    path: str
    elements: int
    unique_bytes: int | None
    is_bfloat16: bool
    parts: int | None
    wrap: str
    wrap_seed: int
    wrap_amplitude: float


@dataclass(frozen=True)
class Rule:
    """How long to measure.

    precision : half width of the median's interval over the median. at_least_s : half of it is for warming up.
    """

    warmup: int
    min_iterations: int
    max_iterations: int
    precision: float
    at_most_s: float
    at_least_s: float


@dataclass(frozen=True)
class PlanPoint:
    """One line of the plan; what is asked for, whether or not this backend can do it.

    root, in_place, nonblocking, imbalance : of the call. settings : those of the library's that it asks to change.
    feedback : rounds in which results become contributions.
    metrics : paths of plugins. entries : as written, less key and id, for the record.
    """

    key: str
    id: str
    collective: str
    root: int
    in_place: bool
    nonblocking: bool
    imbalance: str
    imbalance_seed: int
    settings: tuple[str, ...]
    feedback: int
    sync: str
    cold: bool
    alignment: int
    algorithm: str
    dtype: Dtype
    op: str
    message_bytes: int
    data: FileData | None
    rule: Rule
    metrics: tuple[str, ...]
    entries: Mapping[str, str]

    @property
    def count(self) -> int:
        return self.message_bytes // self.dtype.bytes

    def exchange(self, ranks: int) -> Exchange:
        counts = block_counts(self.collective, ranks, self.count, self.imbalance, self.imbalance_seed)
        return Exchange(self.collective, ranks, self.count, self.root, counts)


def read_plan(path: str) -> list[PlanPoint]:
    """Raises PlanError, whose message begins with FILE:LINE, for what the core refuses, too."""
    try:
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise PlanError(f"{path}: the plan cannot be read: {error.strerror}") from None
    first, *lines = text.removesuffix("\n").split("\n")
    if first != FIRST_LINE:
        raise PlanError(f'{path}:1: "{first}" is not the first line of a plan; known: collpress-plan<TAB>1')
    points: dict[str, PlanPoint] = {}
    for number, one in enumerate(lines, 2):
        line = Line(f"{path}:{number}", one, KNOWN_KEYS)
        point = _read_point(line)
        if point.key in points:
            line.fail("key", f'"{point.key}" is in the plan twice')
        points[point.key] = point
    return list(points.values())


def _read_point(line: Line) -> PlanPoint:
    key, identity = line.identity("key"), line.identity("id")
    collective = line.word("collective", COLLECTIVES)
    root = line.integer("root", 0)
    if root and collective not in ROOTED:
        line.fail("root", "this collective has no root")
    in_place = line.word("buffers", ("separate", "in-place"), "separate") == "in-place"
    if in_place and collective not in IN_PLACE:
        line.fail("buffers", "this collective is not called in place")
    nonblocking = line.word("call", ("blocking", "nonblocking"), "blocking") == "nonblocking"
    imbalance, imbalance_seed = line.word("imbalance", IMBALANCES, "none"), line.integer("imbalance_seed", 0)
    if imbalance != "none" and collective not in UNEVEN:
        line.fail("imbalance", "all blocks of this collective are alike")
    algorithm, dtype = _read_algorithm(line), DTYPES[line.word("dtype", DTYPES)]
    line.word("backend", ("mpi4py",), "mpi4py")
    return PlanPoint(
        key=key,
        id=identity,
        collective=collective,
        root=root,
        in_place=in_place,
        nonblocking=nonblocking,
        imbalance=imbalance,
        imbalance_seed=imbalance_seed,
        algorithm=algorithm,
        dtype=dtype,
        op=line.word("op", OPS),
        message_bytes=line.integer("message_bytes"),
        settings=_read_settings(line),
        feedback=_read_feedback(line),
        sync=line.word("sync", SYNCS, "dissemination"),
        cold=line.word("cache", ("warm", "cold"), "warm") == "cold",
        alignment=_read_alignment(line),
        data=(data := _read_data(line, dtype)),
        metrics=_read_metrics(line, data, dtype),
        rule=_read_rule(line),
        entries=line.entries,
    )


def _read_rule(line: Line) -> Rule:
    warmup, least, most = (line.integer(name) for name in ("warmup", "min_iterations", "max_iterations"))
    if least == 0:
        line.fail("min_iterations", "must be at least 1")
    if most < least:
        line.fail("max_iterations", "is below min_iterations")
    precision, at_most_s = line.positive("precision"), line.positive("at_most")
    at_least_s = line.positive("at_least") if line.has("at_least") else 0.0
    line.integer("instrumented")
    return Rule(warmup, least, most, precision, at_most_s, at_least_s)


def _read_algorithm(line: Line) -> str:
    name = line.text("algorithm")
    origin, colon, own_name = name.partition(":")
    if not colon or not own_name:
        line.fail("algorithm", f'"{name}" is not ORIGIN:NAME', (f"{origin}:NAME" for origin in ORIGINS))
    if origin not in ORIGINS:
        line.fail("algorithm", f'unknown origin "{origin}"', ORIGINS)
    if origin == "library":
        for key in ("plugin", "tagged_plugin"):
            line.forbid(key, "an algorithm of the library has no plugin")
        for key in ("proof", "consistent_with"):
            line.forbid(key, "of what is called from Python nothing is proven")
    else:
        line.text("plugin")
    for key in ("codec", "codec_plugin"):
        if origin == "compressed":
            line.text(key)
        else:
            line.forbid(key, "only a compressed: algorithm has a codec")
    if origin == "compressed":
        line.numbers("codec_parameters")
    else:
        line.forbid("codec_parameters", "only a compressed: algorithm has a codec")
    if line.word("bound", ("none", "abs", "rel"), "none") == "none":
        for key in ("bound_value", "target"):
            line.forbid(key, "needs a bound: abs or rel")
    elif origin != "compressed":
        line.fail("bound", "only a compressed: algorithm has an error bound", ("none",))
    else:
        line.positive("bound_value")
        line.word("target", ("message", "result"), "message")
    return name


def _read_settings(line: Line) -> tuple[str, ...]:
    if line.integer("segment_bytes", 1) == 0:
        line.fail("segment_bytes", "must be at least 1")
    if not 2 <= line.integer("fanout", 2) <= 1_000_000:
        line.fail("fanout", "must be from 2 to 1000000")
    return tuple(key for key in ("segment_bytes", "fanout") if line.has(key))


def _read_feedback(line: Line) -> int:
    rounds = line.integer("feedback", 0)
    if line.has("feedback") and not 1 <= rounds <= 1_000_000:
        line.fail("feedback", "must be from 1 to 1000000")
    asked = (line.text("collective"), line.text("op")) == ("allreduce", "sum")
    if rounds and not (asked and line.text("dtype") in {"float32", "float64"}):
        line.fail("feedback", "only the sums of an allreduce of float32 or float64 are fed back")
    return rounds


def _read_alignment(line: Line) -> int:
    alignment = line.integer("alignment", 65536)
    if alignment.bit_count() != 1 or not 64 <= alignment <= 1 << 30:
        line.fail("alignment", "must be a power of two from 64 to 2^30")
    return alignment


def _read_data(line: Line, dtype: Dtype) -> FileData | None:
    if line.word("data", ("pattern", "file")) == "pattern":
        for key in KNOWN_KEYS:
            if key.startswith(("data_", "wrap")) or key in {"row", "plane"}:
                line.forbid(key, "only data=file has this")
        return None
    path, elements = line.text("data_path"), line.integer("data_elements")
    unique_bytes = line.integer("data_unique_bytes") if line.has("data_unique_bytes") else None
    stored = line.word("data_dtype", dict.fromkeys((dtype.name, "bfloat16")), dtype.name)
    is_bfloat16 = stored == "bfloat16" != dtype.name
    if is_bfloat16 and dtype.name != "float32":
        line.fail("data_dtype", "bfloat16 values are sent as float32")
    parts = line.integer("data_parts") if line.has("data_parts") else None
    if parts is not None and (parts == 0 or elements % parts):
        line.fail("data_parts", f"does not divide the {elements} elements")
    _check_shape(line, elements // (parts or 1))
    wrap, seed, amplitude = _read_wrap(line, dtype)
    return FileData(path, elements, unique_bytes, is_bfloat16, parts, wrap, seed, amplitude)


def _check_shape(line: Line, elements: int) -> None:
    """Of the array that the data are; nothing here depends on it."""
    if not line.has("row"):
        return line.forbid("plane", "needs a row")
    row = line.integer("row")
    if row < 2 or elements % row:
        line.fail("row", f"must be at least 2 and divide {elements} elements")
    plane = line.integer("plane", 0)
    if line.has("plane") and (plane <= row or plane % row or elements % plane):
        line.fail("plane", f"must be several rows and divide {elements} elements")
    return None


def _read_wrap(line: Line, dtype: Dtype) -> tuple[str, int, float]:
    wrap = line.word("wrap", WRAPS, "none")
    if wrap != "perturb":
        for key in ("wrap_seed", "wrap_amplitude"):
            line.forbid(key, "only wrap=perturb changes values")
        return wrap, 0, 0.0
    if dtype.is_integer:
        line.fail("wrap", "only floating-point values can be perturbed")
    seed, amplitude = line.integer("wrap_seed"), line.positive("wrap_amplitude")
    if amplitude >= 1:
        line.fail("wrap_amplitude", "must be below 1")
    return wrap, seed, amplitude


def _read_metrics(line: Line, data: FileData | None, dtype: Dtype) -> tuple[str, ...]:
    if not line.has("metrics"):
        return ()
    if data is None:
        line.fail("metrics", "only data=file has a fidelity", ("file",))
    if dtype.name not in {"float32", "float64"}:
        line.fail("metrics", "only float32 and float64 values have a fidelity")
    paths = line.text("metrics").split("\n")
    names = [Path(path).stem for path in paths]
    for path, name in zip(paths, names, strict=True):
        if not path:
            line.fail("metrics", "an empty path")
        if names.count(name) > 1:
            line.fail("metrics", f'two are called "{name}"')
    return tuple(paths)
