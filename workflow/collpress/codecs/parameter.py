"""A setting of a codec, as campaigns write it and as the codec is handed it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collpress.errors import CollpressError, did_you_mean


@dataclass(frozen=True)
class Parameter:
    """`collpress_codec_parameter`: one of `choices`, or a number from `least` to `most`."""

    name: str
    summary: str
    choices: tuple[str, ...]
    usual: float
    least: float
    most: float
    whole: bool

    @property
    def usual_text(self) -> str:
        """The usual value as a campaign writes it."""
        return self.choices[int(self.usual)] if self.choices else f"{self.usual:g}"

    def value(self, given: str | float) -> float:
        """What the codec is handed for it.

        >>> Parameter("group", "values that share a scale", (), 128, 1, 4096, True).value("64")
        64.0
        """
        if self.choices:
            if given in self.choices:
                return float(self.choices.index(str(given)))
            raise CollpressError(
                f'{self.name} cannot be "{given}"',
                allowed=", ".join(self.choices),
                fix=did_you_mean(str(given), self.choices),
            )
        try:
            number = float(given)
        except ValueError:
            number = math.nan
        if not self.least <= number <= self.most or (self.whole and number != int(number)):
            kind = "whole numbers" if self.whole else "numbers"
            raise CollpressError(
                f'{self.name} cannot be "{given}"', allowed=f"{kind} from {self.least:g} to {self.most:g}"
            )
        return number


def parameter_from_json(data: Mapping[str, Any]) -> Parameter:
    """From the core's description of a codec; the inverse of `dataclasses.asdict`."""
    return Parameter(**(dict(data) | {"choices": tuple(data["choices"])}))


def values_of(codec: str, parameters: Sequence[Parameter], given: Mapping[str, str | float]) -> list[float]:
    """A value for each parameter of a codec, in their order.

    Raises
    ------
    CollpressError : a parameter that there is not, or a value that it cannot have.
    """
    names = [p.name for p in parameters]
    for name in given:
        if name not in names:
            raise CollpressError(
                f'the codec {codec} has no setting "{name}"',
                allowed=", ".join(names) or "none: it has no settings",
                fix=did_you_mean(name, names),
            )
    return [p.value(given[p.name]) if p.name in given else p.usual for p in parameters]
