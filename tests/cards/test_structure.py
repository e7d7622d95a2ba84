"""Autocorrelation, spectrum, Lorenzo estimate, channels and parts: against closed forms and plain references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import Reals, card_of, field, normal, uniform

from collpress.cards import field as fields
from collpress.cards import neighbours, spectrum
from collpress.cards.channels import channels_part
from collpress.cards.lorenzo import lorenzo_part
from collpress.cards.neighbours import axes_part
from collpress.cards.patterns import entropy
from collpress.cards.similarity import MOST, parts_part
from collpress.cards.spectrum import spectrum_part
from collpress.errors import CollpressError

ROUNDED = 1e-8
"""Relative: a card keeps nine digits."""


@pytest.fixture(params=[1 << 20, 50, 5])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers must come from one block and from many."""
    monkeypatch.setattr(fields.blocks, "__defaults__", (-1, request.param))


def moments(values: Reals) -> dict[str, object]:
    """What the parts of a card need of its `values`."""
    known = np.asarray(values, dtype=np.float32).astype(np.float64)
    usable = known[np.isfinite(known)]
    return {
        "usable": usable.size,
        "mean": float(usable.mean()),
        "std": float(usable.std()),
        "minimum": float(usable.min()),
        "maximum": float(usable.max()),
    }


def test_the_autocorrelation_of_an_autoregressive_process_is_a_power_of_its_coefficient() -> None:
    """x_i = φ x_{i−1} + e_i has φ^k at lag k. Bartlett's standard error of it is at most √((1+φ²)/(1−φ²)/n) = 0.0083
    for φ = 0.8 and n = 65 536; four of them are allowed.
    """
    phi, noise = 0.8, normal(1 << 16)
    x, last = np.empty_like(noise), noise[0] / math.sqrt(1 - phi * phi)
    for i, e in enumerate(noise):
        x[i] = last = phi * last + e
    axis = card_of(x)["axes"][0]
    assert axis["lags"] == list(neighbours.LAGS)
    expected = [phi**k for k in axis["lags"]]
    assert axis["autocorrelation"] == pytest.approx(expected, abs=4 * 0.0083)
    assert axis["autocorrelation"][0] > 0.75


@pytest.mark.usefixtures("small_blocks")
def test_autocorrelation_and_mean_step_are_those_of_plain_pairs_along_each_axis() -> None:
    values = normal(5 * 9 * 14).reshape(5, 9, 14).cumsum(axis=1).astype(np.float32).astype(np.float64)
    values[2, 3:6, 4] = np.nan
    part = moments(values)
    x = values - part["mean"]
    for found in axes_part(field(values), part):
        along = np.moveaxis(x, found["axis"], 0)
        assert found["lags"][-1] <= along.shape[0] / 2
        for lag, r in zip(found["lags"], found["autocorrelation"], strict=True):
            assert r == pytest.approx(np.nanmean(along[:-lag] * along[lag:]) / np.nanvar(x), rel=1e-10)
        step = np.nanmean(np.abs(np.diff(along, axis=0))) / (np.nanmax(x) - np.nanmin(x))
        assert found["mean_step_over_range"] == pytest.approx(step, rel=1e-10)


def test_parts_are_no_neighbours() -> None:
    values = normal(4 * 30 * 40).reshape(4, 30, 40)
    made = card_of(values, parts=True)
    assert [a["axis"] for a in made["axes"]] == [1, 2]
    assert len(made["lorenzo"]["predictors"]) == 2
    assert made["spectrum"]["axes"] == [1, 2]
    assert len(card_of(values)["axes"]) == 3


def test_independent_values_have_a_flat_spectrum_at_their_variance() -> None:
    """A shell's power is a mean over many modes of an exponential distribution; the fit is of some 1e5 of them, so that
    1 % of the power and 0.02 of the slope are more than four standard errors.
    """
    found = card_of(3 * normal(1 << 18))["spectrum"]
    assert found["tile"] == [65536]
    assert (found["values"], found["of"]) == (1 << 18, 1 << 18)
    frequency, power = np.array(found["frequency"]), np.array(found["power"])
    assert power[frequency > 0.1].mean() == pytest.approx(9, rel=0.01)
    assert found["slope"] == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(("shape", "slope"), [((256, 256), -3.0), ((64, 64, 64), -11 / 3), ((1 << 17,), -5 / 3)])
def test_the_slope_of_a_power_law_field_is_found(shape: tuple[int, ...], slope: float) -> None:
    """All modes have the amplitude k^(slope/2) and a random phase: only the window blurs them. What it adds at k waves
    is about (slope² − slope)/(6 k²) of the power, 5 % at 6 waves for −3; with the scatter
    of shells of few modes, 0.1 of the slope is allowed.
    """
    k = np.sqrt(sum(np.square(np.fft.fftfreq(n)).reshape([-1 if a == i else 1 for a in range(len(shape))])
                    for i, n in enumerate(shape)))  # fmt: skip
    k.flat[0] = np.inf
    noise = np.fft.fftn(normal(k.size).reshape(shape))
    x = np.fft.ifftn(k ** (slope / 2) * noise / np.abs(noise)).real
    found = card_of(x / x.std())["spectrum"]
    assert found["slope"] == pytest.approx(slope, abs=0.1)
    assert found["energy_slope"] == pytest.approx(found["slope"] + len(shape) - 1, abs=1e-6)
    assert found["r_squared"] > 0.9


def test_a_wave_is_seen_at_its_frequency_whatever_its_direction() -> None:
    y, x = np.mgrid[:96, :80]
    for ky, kx in ((0.25, 0.0), (0.0, 0.25), (0.15, 0.2)):
        found = card_of(5 + np.cos(2 * np.pi * (ky * y + kx * x)))["spectrum"]
        peak = found["frequency"][int(np.argmax(found["power"]))]
        assert peak == pytest.approx(0.25, abs=1 / 80)  # one wave a tile


def test_a_spectrum_is_of_tiles_that_are_counted_and_short_axes_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    values = normal(6 * 200 * 20).reshape(6, 200, 20)
    monkeypatch.setitem(spectrum.TILE, 2, 64)
    found = spectrum_part(field(values), moments(values))
    assert found is not None
    assert (found["axes"], found["tile"]) == ([1, 2], [50, 20])
    assert (found["values"], found["of"]) == (values.size, values.size)
    monkeypatch.setattr(spectrum, "MOST", 5000)
    sampled = spectrum_part(field(values), moments(values))
    assert sampled is not None
    assert (sampled["values"], sampled["of"]) == (5000, values.size)
    assert spectrum_part(field(values[:, :, :9]), moments(values[:, :, :9])) is None


@pytest.mark.usefixtures("small_blocks")
def test_the_lorenzo_entropy_is_that_of_differences_of_the_whole_padded_field() -> None:
    values = normal(4 * 9 * 14).reshape(4, 9, 14).cumsum(axis=2).astype(np.float32).astype(np.float64)
    values[1, 2, 3] = np.nan
    part = moments(values)
    width = part["maximum"] - part["minimum"]
    steps = np.nan_to_num(np.rint((values - part["minimum"]) / (2e-3 * width)))
    for found, axes in zip(lorenzo_part(field(values), part)["predictors"], ((0,), (1, 2), (0, 1, 2)), strict=True):
        line = steps.reshape(-1) if axes == (0,) else steps
        for axis in axes:
            line = np.diff(line, axis=axis, prepend=0)
        assert found["bits_per_value"] == pytest.approx(entropy(np.unique(line, return_counts=True)[1]), rel=1e-12)
        assert found["estimated_ratio"] == pytest.approx(32 / found["bits_per_value"])
        assert found["zeros"] == (line == 0).sum()


def test_of_bfloat16_the_ratio_is_to_16_bits() -> None:
    bits = (normal(3000).astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    (found,) = card_of(bits)["lorenzo"]["predictors"]
    assert found["estimated_ratio"] == pytest.approx(16 / found["bits_per_value"], rel=ROUNDED)


def test_uniform_steps_need_the_logarithm_of_their_number() -> None:
    """512 values of one difference each, equally often: 9 bits; the 501 steps of the bound are finer than needed."""
    steps = np.zeros(2 * 256 * 40)
    steps[1::2] = np.tile(np.arange(256), 40) * 500 / 255
    steps[0::2] = 0
    found = card_of(steps)["lorenzo"]["predictors"][0]
    up = np.rint(np.tile(np.arange(256), 40) * 500 / 255)
    differences = np.diff(np.stack([np.zeros_like(up), up], axis=1).reshape(-1), prepend=0)
    assert found["bits_per_value"] == pytest.approx(entropy(np.unique(differences, return_counts=True)[1]), rel=1e-6)
    assert found["bits_per_value"] == pytest.approx(
        9, abs=0.02
    )  # the zeros, the last rise, and the first 0 are no 512th


@pytest.mark.usefixtures("small_blocks")
def test_an_outlier_channel_is_found_in_its_group() -> None:
    values = np.where(uniform(3 * 40 * 16) < 0.5, -1.0, 1.0).reshape(3, 40, 16)
    values[1, :, 5] *= 9
    values[2, :, 7] *= 4.5
    values[0, 3, 2] = np.nan
    found = channels_part(field(values), moments(values))
    assert found is not None
    assert found["largest"] == {"ratio": 9.0, "group": [1], "channel": 5}
    assert (found["outliers"], found["groups"], found["channels"], found["rows"]) == (2, 3, 16, 40)
    assert found["profile"]["ratio"] == [9.0 if c == 5 else 1.0 for c in range(16)]


def test_data_without_channels_say_so() -> None:
    for values in (normal(50), normal(50).reshape(50, 1)):
        assert card_of(values)["channels"] is None
    assert card_of(normal(60).reshape(2, 30), parts=True)["channels"] is None


@pytest.mark.usefixtures("small_blocks")
def test_constructed_parts_have_their_cosines_and_coherence() -> None:
    """With a and b at right angles and of one length: a, 2b, −a, 3a + 4b (cosines 0.6 and 0.8), and 0."""
    a, b = np.zeros((2, 120))
    a[:60], b[60:] = 1, 1
    values = np.stack([a, 2 * b, -a, 3 * a + 4 * b, 0 * a])
    found = parts_part(field(values, parts=True))
    assert found is not None
    expected = [[1, 0, -1, 0.6], [0, 1, 0, 0.8], [-1, 0, 1, -0.6], [0.6, 0.8, -0.6, 1]]
    assert np.array(found["cosine"], dtype=float)[:4, :4] == pytest.approx(np.array(expected), abs=1e-12)
    assert found["cosine"][4] == [None] * 5
    length = math.sqrt(60)
    assert found["norms"] == pytest.approx([length, 2 * length, length, 5 * length, 0])
    assert found["coherence"] == pytest.approx(math.hypot(3, 6) / 9)
    assert found["cosine_of_pairs"]["minimum"] == pytest.approx(-1)


@pytest.mark.parametrize(("weight", "coherence"), [(0.0, 1 / math.sqrt(8)), (1.0, 1.0)])
def test_coherence_is_one_for_equal_parts_and_small_for_independent_ones(weight: float, coherence: float) -> None:
    """The cosine of independent parts of n values has the standard error 1/√n = 0.007; the coherence less."""
    own = normal(8 * 20_000).reshape(8, -1)
    common = normal(20_000, seed=9)
    found = card_of(weight * common + (1 - weight) * own, parts=True)["parts"]
    assert found["coherence"] == pytest.approx(coherence, abs=0.02)
    assert (found["parts"], found["values_a_part"], found["compared"]) == (8, 20_000, None)


def test_of_very_many_parts_evenly_spread_ones_are_compared_and_named() -> None:
    found = card_of(normal(600 * 4).reshape(600, 4), parts=True)["parts"]
    assert len(found["compared"]) == len(found["norms"]) == MOST
    assert (found["compared"][0], found["compared"][-1], found["parts"]) == (0, 597, 600)


def test_empty_parts_are_refused() -> None:
    with pytest.raises(CollpressError, match="the parts are empty"):
        parts_part(field(np.zeros((3, 0)), parts=True))
