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

from collpress.errors import CollpressError, did_you_mean
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

Value = str | int
"""A canonical factor value."""

COLLECTIVES = ("allreduce",)
DTYPES = {"float32": 4, "float64": 8, "int32": 4}
OPS = ("sum", "max")
WRAPS = ("none", "mirror", "perturb", "repeat")
ALGORITHM_KINDS = ("library", "reference", "compressed")
NAME = r"[a-z0-9][a-z0-9_-]*"
_GLOB_NAME = r"[a-z0-9_*?\[\]!-]+"


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
                return parse_range(item, lambda end: int(self.parse(end)), self.range_text)
            return [self.parse(item)]
        except CollpressError as error:
            if position is not None:
                error.at = (position,)
            raise


def canonical_bound(value: Any) -> str:
    """`none`, `rel NUMBER` or `abs NUMBER`, the number in its one spelling.

    >>> canonical_bound("rel 0.0010"), canonical_bound("abs 5e-1")
    ('rel 1e-3', 'abs 0.5')
    """
    allowed = "none, rel NUMBER (of the value range over all ranks), abs NUMBER; for example rel 1e-3"
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


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _number(pattern: str) -> dict[str, Any]:
    ends = rf"\s*{pattern}\s*\.\.\s*{pattern}\s+[x+]\s*{pattern}\s*"
    return {"anyOf": [{"type": "integer", "minimum": 1}, _text(rf"\s*{pattern}\s*|{ends}")]}


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
            _named("codec", _GLOB_NAME, "a name such as zfp, a pattern such as *, or none"),
            False,
            "none",
            _text(_GLOB_NAME),
            "the compressor of compressed: algorithms; dropped for the others",
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
        Factor("op", _choice("op", OPS), False, "sum", {"enum": list(OPS)}, "the reduction"),
        Factor(
            "message_bytes",
            _message_bytes,
            True,
            None,
            _number(SIZE_PATTERN),
            "bytes of one rank's whole vector: 64Ki, [8, 2Mi], 8 .. 2Mi x8",
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
    )
}
