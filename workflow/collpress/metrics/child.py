"""The process that calls a metric written in Python: `python -m collpress.metrics.child`, standard input a socket.

What comes through it stands in native/include/collpress/python_metric.hpp. The process answers once, with the values or
with the reason why there are none.
"""

from __future__ import annotations

import inspect
import io
import math
import os
import platform
import socket
import struct
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

HEADER = struct.Struct("=QdddQQQ3Q")
_NUMBER = struct.Struct("=Q")


@dataclass(frozen=True)
class About:
    """What a function may know of its pairs beside them.

    minimum, maximum : of the finite expected values, also of pairs that were left out; NaN where there are none.
    abs_bound : what |got - expected| may be, in the unit of the data; NaN where that is unknown.
    row, plane : lengths of a row and a plane of the array that the pairs are a contiguous piece of; 0 where unknown.
    """

    minimum: float
    maximum: float
    abs_bound: float
    row: int
    plane: int


def versions() -> str:
    """What a function's values may depend on beside its text."""
    import numpy as np

    return f"Python {platform.python_version()}, NumPy {np.__version__}"


def answered(stream: BinaryIO) -> bytes:
    """Read one task, call its function, say what came of it."""
    *config, count, of_name, of_text, of_made_with = HEADER.unpack(_exactly(stream, HEADER.size))
    name, text, made_with = (_exactly(stream, n).decode("utf-8") for n in (of_name, of_text, of_made_with))
    values, reason = _measured(stream, config, name, text, made_with)
    told = reason.encode("utf-8", "replace")[: (1 << 16) - 1]
    numbers = struct.pack(f"={count}d", *values, *[math.nan] * (count - len(values)))
    return _NUMBER.pack(count) + numbers + _NUMBER.pack(len(told)) + told


def _measured(stream: BinaryIO, config: Sequence[Any], name: str, text: str, made_with: str) -> tuple[list[float], str]:
    """The values in the order of the file's `values`, and an empty reason, or none and why."""
    pairs, *about = config
    try:
        if versions() != made_with:
            return [], f"the plugin was built for {made_with}, this is {versions()}: build it again"
        expected, got = _pairs(stream, pairs)
        space: dict[str, Any] = {"__name__": name.removesuffix(".py"), "__file__": name}
        exec(compile(text, name, "exec"), space)  # noqa: S102 - it is what a user wants to be run
        names = list(space["values"])
        function = space["measure"]
        arguments: list[Any] = [expected, got, About(*about)]
        answer = function(*arguments[: len(inspect.signature(function).parameters)])
        return _numbers(names, answer)
    except BaseException as error:
        return [], _told(error, name)


def _numbers(names: Sequence[str], answer: Any) -> tuple[list[float], str]:
    if not isinstance(answer, Mapping):
        if len(names) > 1:
            return [], f"it returned {type(answer).__name__}, not a dict of {', '.join(names)}"
        answer = {names[0]: answer}
    if set(answer) != set(names):
        return [], f"it returned {', '.join(map(str, answer)) or 'nothing'}; its values are {', '.join(names)}"
    return [math.nan if answer[n] is None else float(answer[n]) for n in names], ""


def _told(error: BaseException, name: str) -> str:
    """An exception in one line, with the line of the user's file where there is one."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    where = f"{name}, line {lines[-1]}: " if lines else f"{name}: "
    text = " ".join(str(error).split())
    return f"{where}{type(error).__name__}{': ' if text else ''}{text}"


def _pairs(stream: BinaryIO, count: int) -> tuple[Any, Any]:
    import numpy as np

    expected, got = np.empty(count), np.empty(count)
    at = 0
    while length := _NUMBER.unpack(_exactly(stream, _NUMBER.size))[0]:
        for values in (expected, got):
            values[at : at + length] = np.frombuffer(_exactly(stream, 8 * length))
        at += length
    return expected[:at], got[:at]


def _exactly(stream: BinaryIO, length: int) -> bytes:
    found = stream.read(length)
    if len(found) != length:
        raise EOFError("the metric's plugin is gone")
    return found


def main() -> None:
    """Standard input is the socket; what the function prints goes to standard error."""
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.closerange(3, channel.fileno())  # of the ranks' library
    os.closerange(channel.fileno() + 1, 1 << 16)
    stream = io.BufferedReader(socket.SocketIO(channel, "r"), 1 << 20)
    channel.sendall(answered(stream))


if __name__ == "__main__":
    main()
