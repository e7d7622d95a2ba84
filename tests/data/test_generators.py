"""Generated data: what the names promise, and the same bits in every process, on every processor, with every numpy."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.data.arithmetic import elementary, fourier, quantiles, random_field
from collpress.data.arithmetic.words import Uniforms
from collpress.data.generate import generate
from collpress.data.generators import ccbench_rank_product, names, power_law
from collpress.errors import CollpressError

ROOT = Path(__file__).resolve().parents[2]
SHAPE = (8, 16, 32)
PINNED = {
    "ccbench-rank-linear": "c1518485e4217600ccbd59ce2d2f5695aa56c68c608b5a90b9746527accb499d",
    "ccbench-rank-product": "9cb904ba989eb20ffb7627fca842409ff6d8b2e593e92ea833a0b975471ee13f",
    "ccbench-sequential": "c7c0a32d5f43b1b6ec256a55fc5c1bf2d789a5a28d188cd3b69f50866dc16482",
    "constant": "3035aac5fb87474c303702f9030301b4e6bb7aee93be3710b8ab8dcea201db70",
    "laplace": "2d3b6ef8b84068142ae7818a8d3dc1c8cc88819e60b9ee2c3bd76f2f4249a6f0",
    "lognormal": "f824d363e818115bd4815b1f8ab2802d17df9588a12075fbe9692509cfa596b0",
    "normal": "394659a3314903d5dca8de78392dd9e5baba09435a1f63b6f573701b22d584f5",
    "power-law": "b5017a26daddefb691f00d092c238601135e2b34de9e10a1f5d1c1f479ca83a4",
    "sparse": "7f18c2d65c5979b72275ef3e342b0ac04b1533837b1312d0d8581c3f9f48eca3",
    "student-t": "d15ddf4333edd1f454e0028f50d2e488005db3c093e87cfef22e0f8b0a8edae5",
    "uniform": "2fb615a0eb548b2ef5cbdb3ecc02e9dd96d7f06f8aa985b004a88ad82f1ca28a",
    "vortex-pressure": "2d511162214823ab2b7c88a77abefc5db76474f35c448c20930cc06280180904",
    "vortex-u": "6f2f00969671e881cdc83eecdc4bb4c3bb9ca4cdcfa567e73aa17ea0823eefd3",
    "vortex-v": "d220fa05ff1c69e142a062f15834993db66f15e4294484d3347079180575027e",
}
COUNT = 1 << 20


@pytest.fixture(scope="module")
def samples() -> dict[str, np.ndarray]:
    names = ("normal", "laplace", "student-t", "sparse", "uniform", "lognormal")
    return {name: generate(name, 5, (COUNT,)).astype(np.float64) for name in names}


# The same bits everywhere


def test_every_generator_has_a_pinned_output() -> None:
    assert sorted(PINNED) == names()


@pytest.mark.parametrize("name", sorted(PINNED))
def test_a_small_output_has_the_bits_it_always_had(name: str) -> None:
    values = generate(name, 1, SHAPE)
    assert (values.dtype, values.shape) == (np.float32, SHAPE)
    assert hashlib.sha256(values.astype("<f4").tobytes()).hexdigest() == PINNED[name]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX2 FMA3"},
        {"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3"},
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "7",
            "LANG": "C",
            "LC_ALL": "C",
        },
    ],
    ids=["as-it-is", "no-avx-as-numpy-2.3-names-it", "no-avx-as-numpy-2.4-names-it", "another-blas"],
)
def test_another_process_on_a_lesser_processor_makes_the_same_bits(environment: dict[str, str]) -> None:
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"  # names that this numpy or processor does not know
        "import hashlib\nfrom collpress.data.generate import generate\nfrom collpress.data.generators import names\n"
        f"for name in names():\n    values = generate(name, 1, {SHAPE}).astype('<f4')\n"
        "    print(name, hashlib.sha256(values.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), **environment}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert dict(line.split() for line in said.splitlines()) == PINNED


def test_seeds_and_streams_differ_and_a_longer_output_begins_like_a_shorter_one() -> None:
    first, second = generate("normal", 1, (100_000,)), generate("normal", 2, (100_000,))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02
    assert np.array_equal(generate("normal", 1, (70, 100)).ravel(), first[:7000])
    assert abs(np.corrcoef(Uniforms(1, 0).take(100_000), Uniforms(1, 1).take(100_000))[0, 1]) < 0.02


# The arithmetic


def test_uniform_numbers_are_odd_multiples_so_that_neither_tail_is_zero() -> None:
    u = Uniforms(9).take(100_000)
    assert np.all((u > 0) & (u < 1))
    assert all((Fraction(x) * 2**53).denominator == 1 and int(Fraction(x) * 2**53) % 2 == 1 for x in u[:1000].tolist())
    assert abs(np.histogram(u, 16, (0, 1))[0] / 6250 - 1).max() < 0.06


@settings(max_examples=300)
@given(st.floats(2.0**-60, 2.0**60))
def test_logarithm_and_cube_root_are_right_to_the_last_bits(x: float) -> None:
    assert elementary.logarithm(np.array([x]))[0] == pytest.approx(math.log(x), rel=1e-15, abs=4e-16)
    assert elementary.cube_root(np.array([x]))[0] == pytest.approx(math.cbrt(x), rel=1e-15)


@settings(max_examples=300)
@given(st.floats(-700.0, 700.0))
def test_exponential_is_right_to_the_last_bits(x: float) -> None:
    assert elementary.exponential(np.array([x]))[0] == pytest.approx(math.exp(x), rel=1e-15)


@given(st.lists(st.integers(-(2**40), 2**40)))
def test_total_loses_no_element(numbers: list[int]) -> None:
    assert elementary.total(np.array(numbers, dtype=np.float64)) == sum(numbers)


EDGES = [
    2.0**-53,
    1e-15,
    1e-11,
    1.3e-11,
    1e-5,
    0.07,
    0.0749,
    0.0751,
    0.3,
    0.5 - 2.0**-53,
    0.5 + 2.0**-53,
    0.7,
    0.93,
    1 - 1e-9,
    1 - 2.0**-53,
]
PROBABILITIES = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**52 - 1).map(lambda k: (k + 0.5) * 2.0**-52))


@settings(max_examples=300)
@given(PROBABILITIES)
def test_the_normal_quantile_is_the_standard_librarys(u: float) -> None:
    assert quantiles.normal(np.array([u]))[0] == pytest.approx(NormalDist().inv_cdf(u), rel=4e-15, abs=1e-300)


@settings(max_examples=300)
@given(PROBABILITIES)
def test_the_other_quantiles_invert_their_distribution_functions(u: float) -> None:
    laplace, t = quantiles.laplace(np.array([u]))[0], quantiles.student_t4(np.array([u]))[0]
    tail = min(u, 1 - u)
    assert 0.5 * math.exp(-abs(laplace)) == pytest.approx(tail, rel=1e-13)
    assert (laplace > 0) == (t > 0) == (u > 0.5)
    assert _t4_tail(abs(t)) == pytest.approx(tail, rel=1e-12)


def _t4_tail(t: float) -> float:
    """P(T > t) with 4 degrees of freedom: ½ − s (3 − s²)/4, s = t / √(t² + 4), without cancellation."""
    y = 4 / (t * t + 4)
    sine = math.sqrt(1 - y)
    return 0.5 * (1 - sine) ** 2 * (2 + sine) / 2 if t < 1 else 0.25 * (y / (1 + sine)) ** 2 * (2 + sine)


@pytest.mark.parametrize("n", [2, 4, 8, 64, 1024])
def test_roots_of_unity_lie_where_they_should(n: int) -> None:
    cosine, sine = fourier.roots(n)
    angles = 2 * np.pi * np.arange(n // 2) / n
    assert np.abs(cosine - np.cos(angles)).max() < 1e-15 * 8
    assert np.abs(sine - np.sin(angles)).max() < 1e-15 * 8


@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 2, 8), (2, 16, 4), (16, 32, 64), (64, 4, 2)])
def test_the_transform_is_numpys(shape: tuple[int, int, int]) -> None:
    random = np.random.Generator(np.random.Philox(4))
    re, im = random.normal(size=(2, shape[0], shape[1], shape[2] // 2 + 1))
    expected = np.fft.irfftn(_hermitian(re + 1j * im), s=shape, axes=(0, 1, 2)) * math.prod(shape)
    field = fourier.inverse_real_field(re, im)
    assert np.abs(field - expected).max() < 1e-10 * np.abs(expected).max()


def _hermitian(half: np.ndarray) -> np.ndarray:
    """The half spectrum whose own mirror planes are Hermitian: what a real field's is."""
    half = half.copy()
    for plane in (0, -1):
        x = half[:, :, plane]
        mirrored = np.roll(x[::-1, ::-1], (1, 1), (0, 1)).conj()
        half[:, :, plane] = (x + mirrored) / 2
    return half


# The power-law field


def test_the_power_law_field_is_the_same_construction_by_numpys_transform() -> None:
    shape = (32, 16, 64)
    re, im = random_field.spectrum(3, shape, power_law.five_thirds)
    field = np.fft.irfftn(_hermitian(re + 1j * im), s=shape, axes=(0, 1, 2))
    field /= field.std()
    k = [np.fft.fftfreq(n, 1 / n) * (64 // n) for n in shape[:2]]
    squared = k[0][:, None, None] ** 2 + k[1][:, None] ** 2 + np.arange(33) ** 2
    noise = np.concatenate([np.abs((x[1:, 1:, 1:-1]) * squared[1:, 1:, 1:-1] ** (11 / 12)).ravel() for x in (re, im)])
    assert np.mean(noise**2) == pytest.approx(1.0, abs=0.02), "divided by k^(-11/6), the spectrum is white"
    assert np.abs(generate("power-law", 3, shape) - field).max() < 1e-6, "float32"
    exact = fourier.inverse_real_field(re, im)
    assert np.abs(exact / exact.std() - field).max() < 1e-10


@pytest.mark.parametrize("shape", [(64, 64, 64), (32, 64, 128)])
def test_the_energy_spectrum_falls_with_five_thirds(shape: tuple[int, int, int]) -> None:
    field = generate("power-law", 8, shape).astype(np.float64)
    density = np.abs(np.fft.fftn(field)) ** 2
    longest = max(shape)
    axes = [np.fft.fftfreq(n, 1 / n) * (longest / n) for n in shape]
    k = np.sqrt(axes[0][:, None, None] ** 2 + axes[1][:, None] ** 2 + axes[2] ** 2).ravel()
    centres = np.geomspace(5 * longest / min(shape), longest / 2, 12)
    shells = [density.ravel()[(k >= low) & (k < high)].mean() for low, high in pairwise(centres)]
    middle = np.sqrt(centres[:-1] * centres[1:])
    slope = np.polyfit(np.log(middle), np.log(np.array(shells) * middle**2), 1)[0]
    assert slope == pytest.approx(-5 / 3, abs=0.06)


def test_the_power_law_field_is_normalised_smooth_and_the_same_in_every_direction() -> None:
    field = generate("power-law", 2, (64, 64, 64)).astype(np.float64)
    assert abs(field.mean()) < 1e-6
    assert field.std() == pytest.approx(1.0, abs=1e-6)
    neighbours = [np.mean((field - np.roll(field, 1, axis)) ** 2) / 2 for axis in range(3)]
    assert max(neighbours) < 0.1
    assert max(neighbours) / min(neighbours) < 1.1


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 12), (1, 8, 8), (4, 4, 4, 4), (100,)])
def test_shapes_that_the_transform_cannot_do_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(CollpressError, match="power of two"):
        generate("power-law", 1, shape)


# The independent values


def test_moments_are_those_of_the_distribution(samples: dict[str, np.ndarray]) -> None:
    for name, deviation in {
        "normal": 1.0,
        "laplace": math.sqrt(2),
        "student-t": math.sqrt(2),
        "sparse": math.sqrt(0.05),
    }.items():
        assert samples[name].mean() == pytest.approx(0.0, abs=5 * deviation / math.sqrt(COUNT)), name
        assert samples[name].std() == pytest.approx(deviation, rel=0.02), name
    kurtosis = {name: np.mean(x**4) / np.mean(x**2) ** 2 for name, x in samples.items()}
    assert kurtosis["normal"] == pytest.approx(3.0, abs=0.05)
    assert kurtosis["laplace"] == pytest.approx(6.0, abs=0.3)
    assert kurtosis["student-t"] > 10


def test_distribution_functions_fit_by_kolmogorov_and_smirnov(samples: dict[str, np.ndarray]) -> None:
    functions = {
        "normal": np.vectorize(NormalDist().cdf),
        "laplace": lambda x: np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x))),
        "student-t": np.vectorize(lambda t: _t4_tail(-t) if t < 0 else 1 - _t4_tail(t)),
    }
    for name, function in functions.items():
        x = np.sort(samples[name][:100_000])
        distance = np.abs(function(x) - (np.arange(x.size) + 0.5) / x.size).max()
        assert distance < 1.95 / math.sqrt(x.size), f"{name}: passes by chance with p > 0.999"


def test_uniform_values_fill_their_interval_evenly(samples: dict[str, np.ndarray]) -> None:
    x = np.sort(samples["uniform"][:100_000])
    assert np.abs(x - (np.arange(x.size) + 0.5) / x.size).max() < 1.95 / math.sqrt(x.size)
    moved = generate("uniform", 5, (1000,), {"low": -2.0, "high": 6.0})
    assert np.allclose(moved, 8 * samples["uniform"][:1000] - 2, atol=1e-6)


def test_the_logarithm_of_lognormal_values_is_the_normal_value_of_the_same_seed(samples: dict[str, np.ndarray]) -> None:
    assert np.allclose(np.log(samples["lognormal"]), samples["normal"], atol=1e-6)
    wide = generate("lognormal", 5, (1000,), {"sigma": 10.0, "scale": 3.0}).astype(np.float64)
    assert np.allclose(np.log(wide / 3), 10 * samples["normal"][:1000], atol=1e-5)


def test_the_fills_of_ccbench_are_those_of_its_source() -> None:
    """`init_buffer_pattern`, element by element: rank + i, (rank + 1) * (i + 1), rank * count + i, 1."""
    ranks, count = 3, 20
    expected = {
        "ccbench-rank-linear": [[r + i for i in range(count)] for r in range(ranks)],
        "ccbench-rank-product": [[(r + 1) * (i + 1) for i in range(count)] for r in range(ranks)],
        "ccbench-sequential": [[r * count + i for i in range(count)] for r in range(ranks)],
        "constant": [[1] * count] * ranks,
    }
    for name, numbers in expected.items():
        assert np.array_equal(generate(name, 0, (ranks, count)), numbers), name
        assert np.array_equal(generate(name, 9, (ranks, 4, 5)).reshape(ranks, count), numbers), name
    with pytest.raises(CollpressError, match="count to 2800000000"):
        ccbench_rank_product.field(0, (70_000, 40_000))
    assert np.all(generate("constant", 0, (7,), {"value": 273.15}) == np.float32(273.15))


def test_sparse_values_are_positive_zeros_and_a_fraction_of_normals(samples: dict[str, np.ndarray]) -> None:
    values = samples["sparse"]
    occupied = values != 0
    assert occupied.mean() == pytest.approx(0.05, abs=0.002)
    assert not np.signbit(values[~occupied]).any()
    assert values[occupied].std() == pytest.approx(1.0, abs=0.02)
    assert generate("sparse", 1, (1000,), {"density": 0.0}).tobytes() == bytes(4000)
    assert np.array_equal(generate("sparse", 1, (1000,), {"density": 1.0}), generate("normal", 1, (1000,)))


def test_scale_scales() -> None:
    for name in ("normal", "laplace", "student-t"):
        assert np.allclose(generate(name, 1, (50,), {"scale": 4.0}), 4 * generate(name, 1, (50,)), rtol=1e-6), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nromal", 1, (4,)), 'did you mean "normal"'),
        (("normal", -1, (4,)), "seed -1 is out of range"),
        (("normal", 2**64, (4,)), "out of range"),
        (("normal", 1, ()), "holds no value"),
        (("normal", 1, (4, 0)), "holds no value"),
        (("normal", 1, (4,), {"sclae": 2.0}), 'did you mean "scale"'),
        (("power-law", 1, (4, 4, 4), {"scale": 2.0}), "allowed: none"),
        (("normal", 1, (4,), {"scale": math.inf}), "scale is inf"),
        (("sparse", 1, (4,), {"density": 1.5}), "density 1.5"),
        (("uniform", 1, (4,), {"low": 1.0}), "low is 1.0, high is 1.0"),
        (("lognormal", 1, (4,), {"sigma": 11.0}), "sigma is 11.0"),
        (("lognormal", 1, (4,), {"sigma": 0.0}), "above 0, 10 at most"),
        (("ccbench-sequential", 1, (4,)), "no axis of ranks"),
    ],
)
def test_impossible_requests_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(CollpressError) as caught:
        generate(*arguments)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_more_values_than_the_memory_holds_are_refused_before_and_while_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(
        CollpressError, match=f"at least {12 * 10**15} bytes are needed, [0-9]+ are available"
    ) as caught:
        generate("normal", 1, (1000, 10**12))
    assert caught.value.where == "generator normal"

    def full(seed: int, shape: tuple[int, ...]) -> None:
        raise MemoryError

    monkeypatch.setattr("collpress.data.generators.normal.field", full)
    with pytest.raises(CollpressError, match="not enough memory: more than 96 bytes"):
        generate("normal", 1, (8,))
