"""What a codec inside a collective buys: speed-up over the same algorithm without it, and the break-even link rate."""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from collpress.analysis.points import DEFAULT, Point, points
from collpress.analysis.ratios import Ratio, ratio_of_medians

FORMULA = "B* = (w_plain − w_codec) / (t_compress + t_decompress)"
ASSUMPTIONS = (
    "w: bytes that a rank sends in one call; t: time of its phases in one call; compressing and sending do not "
    "overlap, and time on the wire is bytes over rate"
)
CODEC_TIME = "codec_time"


@dataclass(frozen=True)
class Payoff:
    """A point with a codec beside what it is measured against.

    plain : the same algorithm without a codec; default : `library:default`, which compresses nothing; None where not
        planned.
    over_plain, over_default : their time over this point's, above 1 where the codec pays; None where a side has no
        time.
    break_even : byte/s, a rank's share of the link rate below which the codec saves time; 0 where it saves no bytes,
        None where a number is missing. `break_even_rate` says what it rests on.
    """

    point: Point
    plain: Point | None
    default: Point | None
    over_plain: Ratio | None
    over_default: Ratio | None
    break_even: float | None


def payoffs(dataset: xr.Dataset, *, choices: int = 1) -> list[Payoff]:
    """A `Payoff` for every planned point of a compressing algorithm with a codec, in the order of the cube.

    choices : see `ratio_of_medians`.
    """
    codec_time = dataset["phase_time"].sel(phase=["compress", "decompress"]).sum("phase", skipna=False)
    found = points(dataset.assign({CODEC_TIME: codec_time}), ("wire_bytes", CODEC_TIME))
    plain = {p.without("codec", "error_bound"): p for p in found if p.factors["codec"] == "none"}
    default = {p.without("algorithm", "codec", "error_bound"): p for p in plain.values() if _is_default(p)}
    return [
        payoff(
            p,
            plain.get(p.without("codec", "error_bound")),
            default.get(p.without("algorithm", "codec", "error_bound")),
            choices=choices,
        )
        for p in found
        if p.factors["codec"] != "none"
    ]


def payoff(point: Point, plain: Point | None, default: Point | None, *, choices: int = 1) -> Payoff:
    """Compare one point with a codec with its two references."""
    return Payoff(
        point, plain, default, speed_up(point, plain, choices), speed_up(point, default, choices), _rate(point, plain)
    )


def speed_up(point: Point, reference: Point | None, choices: int = 1) -> Ratio | None:
    """Time of `reference` over that of `point`; None where one of them is not ok."""
    if reference is None or not (reference.ok and point.ok):
        return None
    return ratio_of_medians(reference.times, point.times, choices=choices)


def break_even_rate(plain_wire_bytes: float, codec_wire_bytes: float, codec_seconds: float) -> float:
    """`FORMULA`, in byte/s per rank: at this rate the time that is saved on the wire is the time of the codec.

    Below it the codec pays, above it it costs. `ASSUMPTIONS`; and neither the number of messages nor the time of the
    codec depends on the link. It is a property of codec, data and processor: the network of the measurement does not
    enter. 0 where no bytes are saved.

    >>> break_even_rate(3e6, 1e6, 1e-3)
    2000000000.0
    """
    return max(0.0, plain_wire_bytes - codec_wire_bytes) / codec_seconds


def _rate(point: Point, plain: Point | None) -> float | None:
    if plain is None:
        return None
    sent, seconds, unpacked = point.numbers["wire_bytes"], point.numbers[CODEC_TIME], plain.numbers["wire_bytes"]
    if sent is None or not seconds or unpacked is None:
        return None
    return break_even_rate(unpacked, sent, seconds)


def _is_default(point: Point) -> bool:
    return point.factors["algorithm"] == DEFAULT
