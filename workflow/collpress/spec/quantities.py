"""The numbers that a person writes: sizes (`64Ki`), durations (`2 s`), shares (`5%`) and ranges (`8 .. 2Mi x8`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from collpress.errors import CollpressError

PREFIXES = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
LARGEST = (1 << 63) - 1
LONGEST_RANGE = 100_000
MOST_DIGITS = 18
"""Of a whole number; longer ones are text."""

SIZE_PATTERN = r"\d+(\.\d+)?\s*(Ki|Mi|Gi|Ti|Pi)?(B)?"
INTEGER_PATTERN = r"\d+"
_SIZE = re.compile(r"(\d{1,19})(?:\.(\d{1,19}))?\s*(Ki|Mi|Gi|Ti|Pi|)B?")
_WHOLE = re.compile(r"\s*[-+]?[0-9]+\s*")
_SI = re.compile(r"\d+(\.\d+)?\s*([kKMGTP])B?", re.ASCII)
_DURATION = re.compile(r"(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(us|ms|s|min|h)?")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_RANGE = re.compile(r"\s*(\S.*?)\s*\.\.\s*(\S.*?)\s+([x+])\s*(\S+)\s*")
SIZES_ALLOWED = "whole bytes: 8, 64Ki, 2Mi, 1.5Gi (Ki = 1024 bytes, Mi = 1024 Ki, ...)"


def parse_size(value: object) -> int:
    """Bytes of `8`, `"64Ki"`, `"1.5Ki"`; refuses fractions of a byte, negative numbers and more than 64 bits hold.

    >>> parse_size("1.5Ki")
    1536
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise CollpressError(f"{_quoted(value)} is not a size", allowed=SIZES_ALLOWED, fix=_iec_hint(value))
        whole, fraction, prefix = match[1], match[2] or "", match[3]
        scaled = int(whole + fraction) * PREFIXES[prefix]
        number, rest = divmod(scaled, 10 ** len(fraction))
        if rest:
            raise CollpressError(f"{_quoted(value)} is not a whole number of bytes", allowed=SIZES_ALLOWED)
    if not 0 <= number <= LARGEST:
        raise CollpressError(f"the size {_quoted(value)} is impossible", allowed=f"0 to {LARGEST} bytes")
    return number


def format_size(number: int) -> str:
    """The shortest exact text of a number of bytes.

    >>> [format_size(n) for n in (8, 1536, 65536, 2**21)]
    ['8', '1536', '64Ki', '2Mi']
    """
    for prefix, factor in reversed(PREFIXES.items()):
        if number and number % factor == 0:
            return f"{number // factor}{prefix}"
    return str(number)


def parse_integer(value: object) -> int:
    """A whole number written as a number or as digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if is_too_long(value):
        raise CollpressError(f"the number {_quoted(value)} is too large", allowed=f"at most {MOST_DIGITS} digits")
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    raise CollpressError(f"{_quoted(value)} is not a whole number", allowed="a whole number, such as 4")


def is_too_long(value: object) -> bool:
    """Whether a text is a whole number of so many digits that it is not read as one.

    >>> is_too_long("1" * 18), is_too_long("-" + "1" * 19), is_too_long("ring")
    (False, True, False)
    """
    return isinstance(value, str) and bool(_WHOLE.fullmatch(value)) and len(value.strip().lstrip("+-")) > MOST_DIGITS


def parse_duration(value: object) -> float:
    """Seconds of `2`, `"2 s"`, `"50 ms"`, `"1.5 min"`; more than zero.

    >>> parse_duration("50 ms")
    0.05
    """
    allowed = 'a time above zero: "50 ms", "2 s", "1 min", "1 h"; a bare number is in seconds'
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise CollpressError(f"{_quoted(value)} is not a duration", allowed=allowed)
        unit = match[2] or "s"
        # Dividing by 1000 is exact where multiplying by 1e-3 is not.
        seconds = float(match[1]) * _UNITS[unit] if _UNITS[unit] >= 1 else float(match[1]) / round(1 / _UNITS[unit])
    if not (0 < seconds < math.inf):
        raise CollpressError(f"the duration {_quoted(value)} is not above zero and finite", allowed=allowed)
    return seconds


def parse_share(value: object) -> float:
    """A share between 0 and 1, both excluded: `"5%"` or `0.05`.

    >>> parse_share("5%")
    0.05
    """
    allowed = 'a share above 0 and below 1: "5%" or 0.05'
    try:
        if isinstance(value, str) and value.strip().endswith("%"):
            share = float(value.strip()[:-1]) / 100
        elif isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        else:
            share = float(value)
    except ValueError:
        raise CollpressError(f"{_quoted(value)} is not a share", allowed=allowed) from None
    if not 0 < share < 1:
        raise CollpressError(f"the share {_quoted(value)} is out of range", allowed=allowed)
    return share


def is_range(value: object) -> bool:
    """Whether a text is meant to be a range."""
    return isinstance(value, str) and ".." in value


def parse_range(text: str, number: Callable[[object], int], text_of: Callable[[int], str]) -> Sequence[int]:
    """The values of `FIRST .. LAST xFACTOR` or `FIRST .. LAST +STEP`; LAST must be hit.

    Parameters
    ----------
    number : reads one end.
    text_of : writes a value in messages.

    >>> list(parse_range("8 .. 512 x8", parse_size, str))
    [8, 64, 512]
    """
    allowed = 'FIRST .. LAST xFACTOR ("8 .. 2Mi x8") or FIRST .. LAST +STEP ("1 .. 8 +1")'
    match = _RANGE.fullmatch(text)
    if match is None:
        raise CollpressError(f'"{text}" is not a range', allowed=allowed)
    first, last, kind, step = number(match[1]), number(match[2]), match[3], number(match[4])
    if last < first:
        raise CollpressError(
            f'the range "{text}" runs backwards', allowed=allowed, fix=f'"{match[2]} .. {match[1]} {kind}{match[4]}"'
        )
    if kind == "x":
        if step < 2 or first < 1:
            raise CollpressError(
                f'the range "{text}" never moves',
                allowed=allowed,
                fix="multiply a first value of at least 1 by a factor of at least 2",
            )
        values: Sequence[int] = _powers(first, last, step)
    else:
        if step < 1:
            raise CollpressError(f'the range "{text}" never moves', allowed=allowed, fix="add a step of at least 1")
        values = range(first, last + 1, step)
    if len(values) > LONGEST_RANGE:
        raise CollpressError(
            f'the range "{text}" has {len(values):,} values', allowed=f"at most {LONGEST_RANGE:,}", fix="a larger step"
        )
    if values[-1] != last:
        before, after = values[-1], values[-1] * step if kind == "x" else values[-1] + step
        raise CollpressError(
            f'the range "{text}" misses its end {match[2]}: its neighbours are {text_of(before)} and {text_of(after)}',
            fix=" or ".join(f'"{match[1]} .. {text_of(end)} {kind}{match[4]}"' for end in (before, after)),
        )
    return values


def _powers(first: int, last: int, factor: int) -> list[int]:
    values = [first]
    while values[-1] * factor <= last:
        values.append(values[-1] * factor)
    return values


def _quoted(value: object) -> str:
    text = str(value)
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'


def _iec_hint(value: object) -> str:
    match = _SI.fullmatch(value.strip()) if isinstance(value, str) else None
    return (
        f'"{value.strip().rstrip("B").rstrip()}i" if binary multiples are meant'
        if match and isinstance(value, str)
        else ""
    )
