"""Numbers and facts of a card as people read them: for its page, its caption and the command line."""

from __future__ import annotations

from typing import Any

Card = dict[str, Any]


def number(value: float | int | None, digits: int = 5) -> str:
    """A number in few digits; `–` for none."""
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e").replace("-", "−")


def share(count: int, total: int) -> str:
    """A count as a share; never 0 % or 100 % for what is not."""
    if not total:
        return "–"
    percent = 100 * count / total
    if count in (0, total) or 0.01 <= percent <= 99.99:
        return f"{percent:.4g} %"
    return "< 0.01 %" if percent < 1 else "> 99.99 %"


def ratio(value: float | None) -> str:
    """An estimated ratio; `–` where nothing is left to code."""
    return "–" if value is None else f"≈ {value:.0f}" if value >= 100 else f"≈ {value:.3g}"


def shape_of(card: Card) -> str:
    return " × ".join(f"{n:,}" for n in card["shape"])


def values_of(card: Card) -> str:
    """`6 × 10 values`."""
    return f"{shape_of(card)} value{'' if card['elements'] == 1 else 's'}"


def unit(card: Card) -> str:
    """` [K]`, and nothing for numbers without a unit."""
    return "" if card["units"] in {"", "1"} else f" [{card['units']}]"


def axis_name(axis: int, shape: list[int]) -> str:
    return f"axis {axis} ({shape[axis]:,})"


def origin(card: Card) -> str:
    """Whether the data are synthetic, in words that cannot be missed."""
    return "synthetic: made by a generator" if card["synthetic"] else "not synthetic"


def facts(card: Card) -> list[tuple[str, str]]:
    """The numbers that the page lists beside its panels."""
    values, bits = card["values"], card["bits"]
    n, total = values["usable"], card["elements"]
    left_out = [f"{values[k]:,} {k}" for k in ("missing", "nan", "infinite") if values[k]]
    common = values["most_common"]
    out = [
        ("usable values", f"{n:,}" if n == total else f"{n:,} of {total:,}"),
        ("left out", ", ".join(left_out).replace("nan", "NaN") or "none"),
        ("least, largest", f"{number(values['minimum'])}, {number(values['maximum'])}"),
        ("mean, std", f"{number(values['mean'])}, {number(values['std'])}"),
        ("median", number((values["quantiles"] or {}).get("0.5"))),
        ("skewness, kurtosis", f"{number(values['skewness'], 4)}, {number(values['kurtosis'], 4)}"),
        ("zeros", share(values["zeros"], n)),
        ("negative", share(values["negative"], n)),
        ("subnormal", share(values["subnormal"], n)),
        ("distinct values", f"{values['distinct']:,}"),
        ("most frequent", f"{number(common['value'])}: {share(common['count'], n)}"),
        ("below float16", share(bits["float16"]["subnormal"], n)),
        ("as bfloat16", f"{bits['bfloat16_entropy']:.2f} of 16 bits"),
        ("seems to be", ", ".join(looks(card)) or ("no narrower type" if n else "–")),
    ]
    steps = [axis["mean_step_over_range"] for axis in card["axes"]]
    if steps:
        out.append(("mean step / range", ", ".join(number(s if s is None else 1e3 * s, 2) for s in steps) + " ‰"))
    if card["channels"]:
        most = card["channels"]["largest"]["ratio"]
        out.append(("outlier channels", f"{card['channels']['outliers']:,}; largest {number(most, 3)} × median"))
    if card["parts"]:
        pairs, coherence = card["parts"]["cosine_of_pairs"], card["parts"]["coherence"]
        out.append(("cosine of parts", f"{number(pairs['minimum'], 3)} to {number(pairs['maximum'], 3)}"))
        out.append(("‖sum‖ / sum of ‖ ‖", number(coherence, 3)))
    return out


def looks(card: Card) -> list[str]:
    """What the bits tell of the values' origin."""
    found = card["looks"]
    if card["values"]["distinct"] == 1:
        return ["constant"]
    out = []
    if found["widened_from"]:
        out.append(f"widened {found['widened_from']}")
    if found["step"] is not None:
        out.append(f"multiples of {number(found['step'], 4)}")
    if found["few_values"]:
        out.append("few values")
    return out


def caption(card: Card) -> str:
    """What the page shows, how it was computed, of how many values, and where the data are from."""
    values, spectrum = card["values"], card["spectrum"]
    sentences = [
        f"{card['id']}: {card['title']}. The data are {origin(card)}; n = {values['usable']:,} usable values of "
        f"{card['elements']:,} ({shape_of(card)}, {card['dtype']}), all of them counted and none sampled"
        + (", but for the picture" if spectrum is None or spectrum["values"] == spectrum["of"] else "")
        + ".",
    ]
    if spectrum and spectrum["values"] != spectrum["of"]:
        sentences.append(
            f"The picture is one slice, and the spectrum is of {spectrum['values']:,} values in tiles of "
            f"{' × '.join(map(str, spectrum['tile']))}."
        )
    sentences.append(
        "Unused mantissa bits: zero bits at the end of the mantissa; dotted, those of random bits; lines where float16 "
        "and bfloat16 end. Spectrum: mean power over the length of the wave vector, Hann window; dashed, the fit from "
        "6 waves a tile to 0.25 cycles a grid length. Autocorrelation about the mean of all values, along each axis. "
        "Lorenzo entropy: what an ideal coder would need for the differences of values rounded to 0.1 % of the range "
        "either way; an estimate, no codec was run."
    )
    if card["channels"]:
        sentences.append("Channels: mean |x| of each index of the last axis over the median index, dashed 4 times it.")
    if card["parts"]:
        sentences.append("Similarity: cosine of each pair of parts as vectors.")
    sentences.append("Nothing is estimated from a sample of runs, so that no confidence limits apply.")
    return " ".join(sentences)


def alternative(card: Card) -> str:
    """The page for those who cannot see it."""
    said = "; ".join(f"{name}: {value}" for name, value in facts(card))
    lorenzo = [
        f"{p['axes']} {'axis' if p['axes'] == 1 else 'axes'} {number(p['bits_per_value'], 3)} bits a value"
        for p in card["lorenzo"]["predictors"]
    ]
    spectrum = card["spectrum"]
    slope = f" Slope of the power spectrum: {number(spectrum['slope'], 3)}." if spectrum else ""
    estimate = f" Lorenzo estimate at {card['lorenzo']['bound']}: {', '.join(lorenzo)}." if lorenzo else ""
    return (
        f"Page of plots of {card['id']} ({origin(card)}, {values_of(card)} in units of {card['units']}): a slice as a "
        f"picture, histograms, entropies of bytes and exponents, unused mantissa bits, power spectrum, autocorrelation "
        f"and compressibility. {said}.{estimate}{slope}"
    )
