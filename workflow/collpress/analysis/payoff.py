"""What a codec inside a collective buys: speed-up over the same algorithm without it, and the break-even link rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from collpress.analysis.points import DEFAULT, Point, points
from collpress.analysis.ratios import Ratio, ratio_of_medians
from collpress.analysis.statistics import median_over
from collpress.errors import CollpressError

_CODEC_PHASES = ["compress", "decompress"]
FORMULA = "B* = (w_plain − w_codec) / (t_compress + t_decompress)"
ASSUMPTIONS = (
    "w: bytes that a rank sends in one call, without a codec the raw bytes; t: time of its phases in one call; time on "
    "the wire is bytes over rate. The whole time of the codec is charged, although the compressing ring unpacks while "
    "the next stream is on its way: B* is a lower estimate of the rate below which the codec pays"
)
COPYING = "identity codec, which copies"
CODEC_TIME = "codec_time"
_COMPRESSED, _REFERENCE = "compressed:", "reference:"
_OF_CODEC = ("codec", "error_bound", "target")
"""Factors that mean nothing without a codec."""


@dataclass(frozen=True)
class Rate:
    """A link rate, byte/s per rank: the median over launches, with limits from order statistics.

    low, high : None with one launch, and where no bytes are saved (value 0).
    confidence : the exact probability that the limits hold the median; None without limits.
    """

    value: float
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Payoff:
    """A point with a codec beside what it is measured against.

    plain : the same algorithm without compressing: the reference algorithm of the same name where it is ok, else the
        compressing algorithm with the identity codec, which copies; None where neither is planned.
    identity : the compressing algorithm with the identity codec, which sends the raw bytes; None where not planned.
    default : `library:default`, which compresses nothing; None where not planned.
    over_plain, over_default : their time over this point's, above 1 where the codec pays; None where a side has no
        time.
    break_even : a rank's share of the link rate below which the codec would save time; 0 where it saves no bytes,
        None where a number is missing. `break_even_rate` says what it rests on.
    """

    point: Point
    plain: Point | None
    identity: Point | None
    default: Point | None
    over_plain: Ratio | None
    over_default: Ratio | None
    break_even: Rate | None


def payoffs(dataset: xr.Dataset, *, choices: int = 1) -> list[Payoff]:
    """A `Payoff` for every planned point of a compressing algorithm with a codec, in the order of the cube.

    choices : see `ratio_of_medians`. CollpressError for a cube without the phases of each launch.
    """
    if "phase_time_launch" not in dataset:
        raise CollpressError("this cube has no phases of each launch", fix="make it again: collpress cube")
    codec_time = _codec_time(dataset)
    found = points(dataset.assign({CODEC_TIME: codec_time}), ("wire_bytes",), (CODEC_TIME,))
    bare = {p.without(*_OF_CODEC): p for p in found if p.factors["codec"] == "none"}
    cells = {(str(p.factors["algorithm"]), p.without("algorithm", *_OF_CODEC)): p for p in bare.values()}
    out: list[Payoff] = []
    for p in found:
        if p.factors["codec"] == "none":
            continue
        algorithm, cell = str(p.factors["algorithm"]), p.without("algorithm", *_OF_CODEC)
        identity = cells.get((algorithm, cell))
        reference = cells.get((_REFERENCE + algorithm.removeprefix(_COMPRESSED), cell))
        out.append(payoff(p, _plain(reference, identity), identity, cells.get((DEFAULT, cell)), choices=choices))
    return out


def payoff(
    point: Point, plain: Point | None, identity: Point | None, default: Point | None, *, choices: int = 1
) -> Payoff:
    """Compare one point with a codec with its references."""
    over_plain, over_default = (speed_up(point, other, choices) for other in (plain, default))
    return Payoff(point, plain, identity, default, over_plain, over_default, _rate(point, identity))


def baseline(plain: Point) -> str:
    """`plain` in words: `the plain ring`, or `the ring with an identity codec, which copies`."""
    kind, _, stem = str(plain.factors["algorithm"]).partition(":")
    name = stem.replace("_", " ")
    return f"the plain {name}" if f"{kind}:" == _REFERENCE else f"the {name} with an {COPYING}"


def baselines(plains: Sequence[Point | None]) -> str:
    """What several are measured against, in words: the one where it is the same for all, else both kinds."""
    said = list(dict.fromkeys(baseline(p) for p in plains if p is not None))
    return said[0] if len(said) == 1 else "the same algorithm without compressing"


def speed_up(point: Point, reference: Point | None, choices: int = 1) -> Ratio | None:
    """Time of `reference` over that of `point`; None where one of them is not ok."""
    if reference is None or not (reference.ok and point.ok):
        return None
    return ratio_of_medians(reference.times, point.times, choices=choices)


def break_even_rate(plain_wire_bytes: float, codec_wire_bytes: float, codec_seconds: float) -> float:
    """`FORMULA`, in byte/s per rank: at this rate the time that is saved on the wire is the time of the codec.

    Below it the codec pays. `ASSUMPTIONS`; and neither the number of messages nor the time of the codec depends on the
    link. It is a property of codec, data and processor: the network of the measurement does not enter. 0 where no bytes
    are saved.

    >>> break_even_rate(3e6, 1e6, 1e-3)
    2000000000.0
    """
    return max(0.0, plain_wire_bytes - codec_wire_bytes) / codec_seconds


def break_even_rates(dataset: xr.Dataset) -> xr.DataArray:
    """`break_even_rate` of every cell with a codec, with the dimensions of `status`: medians over launches.

    With Tc, Td the speeds of the codec in the call and r the ratio of the bytes that are sent, this is
    B* = (1 - 1/r) / (1/Tc + 1/Td): w_plain bytes pass through the codec, so that Tc = w_plain / t_compress and
    Td = w_plain / t_decompress. NaN without a codec, and where the same point with the codec `none` is not ok.
    """
    status, sent = dataset["status"], dataset["wire_bytes"]
    nothing = xr.full_like(sent, float("nan"), dtype="float64").drop_attrs()
    if "none" not in sent["codec"].values or "none" not in sent["error_bound"].values:
        return nothing
    plain = sent.sel(codec="none", error_bound="none", drop=True)
    seconds = _codec_time(dataset)
    rates = (plain - sent).clip(min=0) / seconds.where(seconds > 0)
    found = rates.median("launch", skipna=True).where(dataset["codec"] != "none")
    return found.transpose(*status.dims)


def _codec_time(dataset: xr.Dataset) -> xr.DataArray:
    """Seconds of a call's codec phases, of each launch."""
    return dataset["phase_time_launch"].sel(phase=_CODEC_PHASES).sum("phase", skipna=False)


def _plain(reference: Point | None, identity: Point | None) -> Point | None:
    return reference if reference is not None and (reference.ok or identity is None) else identity


def _rate(point: Point, identity: Point | None) -> Rate | None:
    """The median of the launches' rates; the bytes are medians over launches, which hardly differ in them."""
    sent = point.numbers["wire_bytes"]
    raw = identity.numbers["wire_bytes"] if identity is not None else None
    seconds = [t for t in point.by_launch[CODEC_TIME] if t > 0]
    if sent is None or raw is None or not seconds:
        return None
    rates = [break_even_rate(raw, sent, t) for t in seconds]
    if len(rates) == 1 or raw <= sent:
        return Rate(float(np.median(rates)))
    found = median_over(xr.DataArray(rates, dims=["launch"]))
    return Rate(*(float(found[name]) for name in ("median", "ci_low", "ci_high", "coverage")))
