"""The vortex is what its description says: Holland's profile, turning and flowing in, weaker with height, and rough."""

from __future__ import annotations

import numpy as np
import pytest

from collpress.data import hurricane
from collpress.data.generate import generate
from collpress.errors import CollpressError

SHAPE = (20, 96, 96)


@pytest.fixture(scope="module")
def wind() -> tuple[np.ndarray, np.ndarray]:
    u, v = (generate(f"vortex-{c}", 7, SHAPE).astype(np.float64) for c in "uv")
    return u, v


@pytest.fixture(scope="module")
def pressure() -> np.ndarray:
    return generate("vortex-pressure", 7, SHAPE).astype(np.float64)


@pytest.fixture
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fluctuations and no surrounding wind: the mean vortex alone."""
    monkeypatch.setattr(hurricane, "_GUST", 0.0)
    monkeypatch.setattr(hurricane, "_PRESSURE_FLUCTUATION", 0.0)
    monkeypatch.setattr(hurricane, "_STEERING", (0.0, 0.0))
    monkeypatch.setattr(hurricane, "_SHEAR", 0.0)


def _towards(points: int = 96) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vector from the centre (y, x) and distance of every point of a level, in metres."""
    y, x = ((np.arange(points) + 0.5) * (2.0e6 / points) - centre for centre in (0.93e6, 1.05e6))
    distance = np.hypot(y[:, None], x)
    return y[:, None] + 0 * distance, x + 0 * distance, distance


def test_wind_and_pressure_have_the_size_of_a_great_hurricane(
    wind: tuple[np.ndarray, np.ndarray], pressure: np.ndarray
) -> None:
    assert 50.0 < np.hypot(*wind).max() < 85.0
    assert -8000.0 < pressure.min() < -4000.0
    assert pressure.max() < 300.0


@pytest.mark.usefixtures("calm")
def test_without_fluctuations_it_is_hollands_profile() -> None:
    y, x, r = _towards()
    height = 500.0  # of the lowest of 20 levels
    radius, strength = 4.0e4 + 2.0 * height, 1.0 - height / 1.6e4
    h = np.minimum((radius / r) ** 1.6, 700.0)
    push = 1.6 * 7500.0 * strength / 1.15
    expected = np.sqrt(push * h * np.exp(-h) + (r * 7.9e-5 / 2) ** 2) - r * 7.9e-5 / 2
    u, v = (generate(f"vortex-{c}", 7, SHAPE)[0].astype(np.float64) for c in "uv")
    assert np.abs(np.hypot(u, v) - expected).max() < 1e-4
    inwards = 0.45 * (1.0 - height / 1.5e3)
    assert np.allclose((x * v - y * u) / r, expected / np.sqrt(1 + inwards**2), atol=1e-4), "it turns to the left"
    assert np.allclose((x * u + y * v) / r, -inwards * expected / np.sqrt(1 + inwards**2), atol=1e-4), "and inwards"
    deficit = 7500.0 * strength * np.exp(-height / 8.0e3)
    assert np.allclose(generate("vortex-pressure", 7, SHAPE)[0], deficit * (np.exp(-h) - 1.0), atol=1e-2)


@pytest.mark.usefixtures("calm")
def test_it_weakens_and_widens_with_height_and_ends_at_the_top() -> None:
    u, v = (generate(f"vortex-{c}", 7, (20, 128, 128)).astype(np.float64) for c in "uv")
    speed = np.hypot(u, v)
    strongest = speed.max(axis=(1, 2))
    assert np.all(np.diff(strongest[:16]) < 0)
    assert strongest[16:].max() == 0.0
    radii = [_towards(128)[2].ravel()[speed[level].argmax()] for level in (0, 8, 15)]
    assert radii[0] < radii[1] < radii[2]


def test_fluctuations_are_stronger_where_the_wind_is_and_differ_between_the_components(
    wind: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hurricane, "_GUST", 0.0)
    gusts = [with_gusts - generate(f"vortex-{c}", 7, SHAPE) for c, with_gusts in zip("uv", wind, strict=True)]
    near = _towards()[2][:, 1:] < 1.5e5
    for gust in gusts:
        rough = np.diff(gust, axis=2)
        assert rough[:4, near].std() > 1.5 * rough[:4, ~near].std()
        assert 1.0 < gust[16:].std() < 3.0
    assert abs(np.corrcoef(np.diff(gusts[0]).ravel(), np.diff(gusts[1]).ravel())[0, 1]) < 0.1


@pytest.mark.usefixtures("calm")
def test_a_finer_grid_shows_the_same_vortex() -> None:
    coarse, fine = (generate("vortex-pressure", 7, (4, points, points)) for points in (48, 96))
    blocks = fine.reshape(4, 48, 2, 48, 2).mean(axis=(2, 4))
    far = _towards(48)[2] > 1.5e5
    assert np.abs(blocks - coarse)[:, far].max() < 0.02 * np.abs(coarse[:, far]).max()


def test_another_seed_is_another_weather_around_the_same_vortex() -> None:
    first, second = (generate("vortex-u", seed, (4, 32, 32)) for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] > 0.5


@pytest.mark.parametrize("name", ["vortex-u", "vortex-v", "vortex-pressure"])
@pytest.mark.parametrize("shape", [(8,), (8, 8), (2, 4, 8, 8)])
def test_shapes_without_three_axes_are_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(CollpressError, match="three axes"):
        generate(name, 1, shape)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (1, 9, 2)])
def test_every_shape_with_three_axes_is_filled_with_finite_values(shape: tuple[int, int, int]) -> None:
    for name in ("vortex-u", "vortex-v", "vortex-pressure"):
        values = generate(name, 1, shape)
        assert values.shape == shape
        assert np.isfinite(values).all()
