"""The factors: named axes of a sweep, how each is written, and its one canonical form.

Identities are made of canonical values: sizes are whole bytes, error bounds are `none`, `rel 1e-3` or `abs 0.5`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from collpress.collectives import COLLECTIVES
from collpress.errors import CollpressError, did_you_mean
from collpress.spec.codec_text import PARAMETER_NAME, PARAMETER_VALUE, canonical_codec
from collpress.spec.quantities import (
    INTEGER_PATTERN,
    LONGEST_RANGE,
    SIZE_PATTERN,
    format_size,
    is_range,
    parse_integer,
    parse_range,
    parse_size,
)
from collpress.usual import USUAL

Value = str | int
"""A canonical factor value."""

DTYPES = {
    "float32": 4,
    "float64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
}
OPS = ("sum", "prod", "min", "max")
WRAPS = ("none", "mirror", "perturb", "repeat")
ALGORITHM_KINDS = ("library", "reference", "compressed")
BUFFERS = ("separate", "in-place")
CALLS = ("blocking", "nonblocking")
IMBALANCES = ("none", "linear", "one-large", "random")
SYNCS = ("dissemination", "barrier", "window", "none")
CACHES = ("warm", "cold")
BACKENDS = ("mpi", "mpi4py")
MOST_FEEDBACK = 1_000_000
TARGETS = ("message", "result")
LEAST_ALIGNMENT, LARGEST_ALIGNMENT = 64, 1 << 30
NAME = r"[a-z0-9][a-z0-9_-]*"
_GLOB_NAME = r"[a-z0-9_*?\[\]!-]+"
_CODEC_SETTING = rf"{PARAMETER_NAME}\s*=\s*{PARAMETER_VALUE}\s*"


@dataclass(frozen=True)
class Factor:
    """One axis: how a value is read, whether it is a number, its default (None: must be given), its JSON schema."""

    name: str
    parse: Callable[[Any], Value]
    numeric: bool
    default: Value | None
    schema: dict[str, Any]
    description: str
    range_text: Callable[[int], str] | None = None

    def axis(self, written: Any) -> tuple[Value, ...]:
        """All values of what was written: one value, a range, or a list of both, in order; repetition is an error."""
        items = written if isinstance(written, list) else [written]
        if not items:
            raise CollpressError(f"{self.name} has no values", fix="remove the key or give it a value")
        values: dict[Value, None] = {}
        for position, item in enumerate(items):
            for value in self._values(item, position if isinstance(written, list) else None):
                if value in values:
                    raise CollpressError(
                        f"{self.name} has the value {self.text(value)} twice", fix="remove one of them"
                    )
                values[value] = None
            if len(values) > LONGEST_RANGE:
                raise CollpressError(f"{self.name} has more than {LONGEST_RANGE:,} values", fix="fewer values")
        return tuple(values)

    def text(self, value: Value) -> str:
        """A value as people write it."""
        return self.range_text(value) if self.range_text and isinstance(value, int) else str(value)

    def _values(self, item: Any, position: int | None) -> Iterable[Value]:
        try:
            if self.range_text and is_range(item):
                return parse_range(item, self._end, self.range_text)
            return [self.parse(item)]
        except CollpressError as error:
            if position is not None:
                error.at = (position,)
            raise

    def _end(self, written: Any) -> int:
        value = self.parse(written)
        if isinstance(value, int):
            return value
        raise CollpressError(
            f'"{written}" is no end of a range', allowed="numbers", fix="put it beside: [A, B .. C x2]"
        )


def canonical_bound(value: Any) -> str:
    """`none`, `rel NUMBER` or `abs NUMBER`, the number in its one spelling.

    >>> canonical_bound("rel 0.0010"), canonical_bound("abs 5e-1")
    ('rel 1e-3', 'abs 0.5')
    """
    allowed = "none, rel NUMBER (of the value range of all ranks' messages), abs NUMBER; for example rel 1e-3"
    words = value.split() if isinstance(value, str) else []
    if words == ["none"]:
        return "none"
    if len(words) != 2 or words[0] not in ("rel", "abs"):
        hint = (
            f"rel {value}"
            if isinstance(value, int | float)
            else did_you_mean(words[0], ["none", "rel", "abs"])
            if words
            else ""
        )
        raise CollpressError(f'"{value}" is not an error bound', allowed=allowed, fix=hint)
    try:
        number = float(words[1])
    except ValueError:
        raise CollpressError(f'"{words[1]}" is not a number', allowed=allowed) from None
    if not 0 < number < math.inf or (words[0] == "rel" and number > 1):
        raise CollpressError(f'the error bound "{value}" is out of range', allowed="a number above 0 (rel: at most 1)")
    return f"{words[0]} {canonical_number(number)}"


def canonical_number(number: float) -> str:
    """One spelling for each positive float, which reads back to the same float.

    >>> [canonical_number(x) for x in (0.001, 0.5, 2.5e-3, 12.0, 1e9)]
    ['1e-3', '0.5', '2.5e-3', '12', '1e9']
    """
    _, digits, _ = (decimal := Decimal(repr(number)).normalize()).as_tuple()
    exponent = decimal.adjusted()
    if -1 <= exponent < 6:
        return format(decimal, "f")
    text = "".join(map(str, digits))
    mantissa = f"{text[0]}.{text[1:]}" if text[1:] else text
    return f"{mantissa}e{exponent}"


def is_pattern(value: Value) -> bool:
    """Whether a value stands for all names that match it."""
    return isinstance(value, str) and any(c in value for c in "*?[")


def _choice(noun: str, allowed: Iterable[str]) -> Callable[[Any], str]:
    names = tuple(allowed)

    def parse(value: Any) -> str:
        if value not in names:
            raise CollpressError(
                f'unknown {noun} "{value}"', allowed=", ".join(names), fix=did_you_mean(str(value), names)
            )
        return str(value)

    return parse


def _named(noun: str, pattern: str, allowed: str) -> Callable[[Any], str]:
    expression = re.compile(pattern)

    def parse(value: Any) -> str:
        if value is None:
            raise CollpressError(f"{noun} is empty", allowed=allowed, fix="write none if none is meant")
        if not isinstance(value, str) or not expression.fullmatch(value):
            raise CollpressError(f'"{value}" cannot name a {noun}', allowed=allowed)
        return value

    return parse


def _algorithm(value: Any) -> str:
    allowed = "library:NAME, reference:NAME, compressed:NAME; NAME may be a pattern such as *"
    kind, colon, name = str(value).partition(":")
    if not isinstance(value, str) or not colon:
        raise CollpressError(
            f'"{value}" does not say whose algorithm it is',
            allowed=allowed,
            fix=f"library:{value} or reference:{value}",
        )
    if kind not in ALGORITHM_KINDS:
        raise CollpressError(
            f'unknown kind of algorithm "{kind}"', allowed=allowed, fix=did_you_mean(kind, ALGORITHM_KINDS)
        )
    if not re.fullmatch(_GLOB_NAME, name):
        raise CollpressError(f'"{name}" cannot name an algorithm', allowed=allowed)
    return value


def _codec(value: Any) -> str:
    return canonical_codec(value, _GLOB_NAME)


def _count(noun: str) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        number = parse_integer(value)
        if not 1 <= number <= 10_000_000:
            raise CollpressError(f"{number} {noun} are impossible", allowed="1 or more")
        return number

    return parse


def _message_bytes(value: Any) -> int:
    if isinstance(value, int | float | str) and not isinstance(value, bool) and str(value).strip().startswith("-"):
        raise CollpressError(f"a message of {value} bytes is impossible", allowed="1 byte or more")
    number = parse_size(value)
    if number == 0:
        raise CollpressError(
            "a message of 0 bytes says nothing about a collective that moves data", allowed="1 byte or more"
        )
    return number


def _root(value: Any) -> int:
    number = parse_integer(value)
    if number < 0:
        raise CollpressError(f"there is no rank {number}", allowed="0 or more")
    return number


def _or_default(noun: str, number: Callable[[Any], int], least: int) -> Callable[[Any], Value]:
    """`default`, which leaves it to the algorithm, or a number."""

    def parse(value: Any) -> Value:
        if value == "default":
            return "default"
        found = number(value)
        if found < least:
            raise CollpressError(f"{noun} {value} is too small", allowed=f"default, or {least} and more")
        return found

    return parse


def _alignment(value: Any) -> int:
    number = parse_size(value)
    if not LEAST_ALIGNMENT <= number <= LARGEST_ALIGNMENT or number & (number - 1):
        allowed = f"a power of two from {LEAST_ALIGNMENT} to {format_size(LARGEST_ALIGNMENT)}"
        raise CollpressError(f"an alignment of {value} bytes is impossible", allowed=allowed)
    return number


def _feedback(value: Any) -> int:
    number = parse_integer(value)
    if not 0 <= number <= MOST_FEEDBACK:
        raise CollpressError(f"{number} rounds are impossible", allowed=f"0 (none) to {MOST_FEEDBACK}")
    return number


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _number(pattern: str, least: int = 1, word: str = "") -> dict[str, Any]:
    """A number of at least `least`, a range of them, or `word`."""
    ends = rf"\s*{pattern}\s*\.\.\s*{pattern}\s+[x+]\s*{pattern}\s*"
    more = f"|{word}" if word else ""
    return {"anyOf": [{"type": "integer", "minimum": least}, _text(rf"\s*{pattern}\s*|{ends}{more}")]}


def _setting(name: str, values: tuple[str, ...], description: str) -> Factor:
    """A factor of `USUAL` with a few words as values."""
    return Factor(name, _choice(name, values), False, USUAL[name], {"enum": list(values)}, description)


FACTORS: dict[str, Factor] = {
    f.name: f
    for f in (
        Factor(
            "collective",
            _choice("collective", COLLECTIVES),
            False,
            None,
            {"enum": list(COLLECTIVES)},
            "the collective operation",
        ),
        Factor(
            "algorithm",
            _algorithm,
            False,
            None,
            _text(f"(?:{'|'.join(ALGORITHM_KINDS)}):{_GLOB_NAME}"),
            "library:NAME, reference:NAME or compressed:NAME; library:* stands for all that the installation offers",
        ),
        Factor(
            "codec",
            _codec,
            False,
            "none",
            _text(rf"\s*{_GLOB_NAME}\s*(?:\(\s*{_CODEC_SETTING}(?:,\s*{_CODEC_SETTING})*\))?\s*"),
            "the compressor of compressed: algorithms, with settings where they are not as usual: int4(group=64); "
            "dropped for the other algorithms",
        ),
        Factor(
            "error_bound",
            canonical_bound,
            False,
            "none",
            _text(r"none|(?:rel|abs)\s+[0-9.]+(?:[eE][-+]?[0-9]+)?"),
            "none, rel NUMBER or abs NUMBER; dropped for codecs that take none",
        ),
        Factor(
            "dataset",
            _named(
                "dataset",
                rf"{_GLOB_NAME}(?:/{_GLOB_NAME})*",
                "pattern, a name such as colpex/theta, or a pattern such as synthetic/*",
            ),
            False,
            "pattern",
            _text(rf"{_GLOB_NAME}(?:/{_GLOB_NAME})*"),
            "what is sent: pattern (small whole numbers) or a name from config/datasets.yaml",
        ),
        Factor(
            "wrap",
            _choice("wrap", WRAPS),
            False,
            "none",
            {"enum": list(WRAPS)},
            "what a longer message than the data does: none (is refused), mirror (goes on backwards), perturb (again, "
            "changed a little), repeat (again); dropped for pattern",
        ),
        Factor("dtype", _choice("dtype", DTYPES), False, "float32", {"enum": list(DTYPES)}, "type of the elements"),
        Factor(
            "op",
            _choice("op", OPS),
            False,
            "sum",
            {"enum": list(OPS)},
            "the reduction; dropped where nothing is reduced",
        ),
        Factor(
            "message_bytes",
            _message_bytes,
            True,
            None,
            _number(SIZE_PATTERN),
            "64Ki, [8, 2Mi], 8 .. 2Mi x8: bytes of one rank's whole vector (allreduce, reduce, reduce_scatter, bcast, "
            "pingpong) or of one block (allgather, gather, scatter, alltoall; allgatherv, alltoallv: the mean block); "
            "dropped for barrier",
            format_size,
        ),
        Factor(
            "ranks",
            _count("ranks"),
            True,
            None,
            _number(INTEGER_PATTERN),
            "processes: 2, [2, 4], 2 .. 16 x2, 2 .. 8 +1",
            str,
        ),
        Factor(
            "nodes", _count("nodes"), True, 1, _number(INTEGER_PATTERN), "machines that the ranks are spread over", str
        ),
        Factor(
            "root",
            _root,
            True,
            USUAL["root"],
            _number(INTEGER_PATTERN, 0),
            "the root's rank; dropped for all but reduce, gather, scatter and bcast",
            str,
        ),
        _setting(
            "buffers",
            BUFFERS,
            "separate, or in-place: a rank's contribution lies where its result goes; dropped for bcast, barrier, "
            "scatter, alltoallv and pingpong, which know no other way",
        ),
        _setting(
            "call",
            CALLS,
            "blocking, or nonblocking: how much of the library's nonblocking call hides behind a computation",
        ),
        _setting(
            "imbalance",
            IMBALANCES,
            "how blocks differ around their mean, message_bytes: none, linear (in proportion to 1, 2, 3, ...), "
            "one-large (the first is half of everything), random; dropped for all but allgatherv and alltoallv",
        ),
        Factor(
            "segment_bytes",
            _or_default("segment_bytes", parse_size, 1),
            False,
            USUAL["segment_bytes"],
            _number(SIZE_PATTERN, 1, "default"),
            "at most so many bytes in one message of the algorithm, or default; dropped for algorithms that do not ask",
            format_size,
        ),
        Factor(
            "fanout",
            _or_default("fanout", parse_integer, 2),
            False,
            USUAL["fanout"],
            _number(INTEGER_PATTERN, 2, "default"),
            "children, groups or radix of the algorithm, or default; dropped for algorithms that do not ask",
            str,
        ),
        _setting(
            "sync",
            SYNCS,
            "how ranks start an iteration together: dissemination (a barrier of our own), barrier (the library's), "
            "window (a common moment), none (back to back)",
        ),
        _setting(
            "cache",
            CACHES,
            "warm: the same buffers in each iteration; cold: buffers that left the caches; dropped for barrier",
        ),
        Factor(
            "alignment",
            _alignment,
            True,
            USUAL["alignment"],
            _number(SIZE_PATTERN, LEAST_ALIGNMENT),
            "bytes that each buffer's address is a multiple of, a power of two; dropped for barrier",
            format_size,
        ),
        _setting(
            "backend",
            BACKENDS,
            "who calls: mpi (the native core), or mpi4py (Python, library:default only), for what Python adds",
        ),
        Factor(
            "knobs",
            _named("set of knobs", _GLOB_NAME, "a name from the platform's knobs, a pattern such as *, or none"),
            False,
            USUAL["knobs"],
            _text(_GLOB_NAME),
            "a set of the library's variables, by its name in the platform file; *: all that it has; or none",
        ),
        Factor(
            "feedback",
            _feedback,
            True,
            USUAL["feedback"],
            _number(INTEGER_PATTERN, 0),
            "rounds in which an allreduce's result, over the number of ranks and moved by one element, is every rank's "
            "next contribution, after the timing: how errors grow; 0: none",
            str,
        ),
        _setting(
            "target",
            TARGETS,
            "what an error_bound is of: message (each compression), or result (the codec's bound is made so small that "
            "the algorithm keeps it); dropped without a bound",
        ),
    )
}
