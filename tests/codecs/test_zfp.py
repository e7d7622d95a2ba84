"""zfp: found without importing zfpy, missing without harm, and held to its bound where zfp alone would break it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_building import skip_without_library
from codec_judgement import bits, power_law, violations
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec, Setting

Array = npt.NDArray[Any]


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    skip_without_library("zfp")


@pytest.fixture(scope="module")
def zfp(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["zfp"])


def round_trip(codec: Codec, values: Array, bound: float) -> Array:
    return codec.decompress(codec.compress(values, bound), values.size, values.dtype, bound)


def test_a_smooth_field_is_compressed_within_the_bound(zfp: Codec) -> None:
    values = power_law(64)
    bound = 1e-3 * float(values.max() - values.min())
    stream = zfp.compress(values, bound)
    assert values.nbytes / stream.size > 1.8
    assert violations(values, zfp.decompress(stream, values.size, np.float32, bound), bound) == []


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 700),
    exponent=st.integers(-149, 120),
    bound_exponent=st.floats(-60, 5),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_bound_holds_everywhere(
    zfp: Codec, seed: int, size: int, exponent: int, bound_exponent: float, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal(size) * 2.0 ** (exponent - rng.uniform(0, 12, size))).astype(dtype)
    bound = 2.0 ** (exponent + bound_exponent)
    assert violations(values, round_trip(zfp, values, bound), bound) == []


@pytest.mark.parametrize("bound", [1e-45, 1e-40, 1e-38, 1e-30])
def test_subnormal_values_are_no_trap(zfp: Codec, bound: float) -> None:
    values = (np.random.default_rng(0).standard_normal(4096) * 1e-37).astype(np.float32)
    values[::2] *= np.float32(1e-4)
    assert violations(values, round_trip(zfp, values, bound), bound) == []


def test_a_message_with_a_nan_is_kept_as_it_is(zfp: Codec) -> None:
    values = power_law(16)
    bits(values)[77] = 0xFFC12345
    assert np.array_equal(bits(round_trip(zfp, values, 0.1)), bits(values))


def test_values_near_the_largest_number(zfp: Codec) -> None:
    values = np.array([3.4e38, -3.4e38, 1.0, 2e38] * 64, np.float32)
    for bound in (1e30, 1e36, 1e38):
        assert violations(values, round_trip(zfp, values, bound), bound) == []


def test_without_the_library_the_codec_says_that_it_is_missing(plugins: dict[str, Path]) -> None:
    code = (
        "import sys, numpy as np; from collpress.codecs import Codec\n"
        "from collpress.errors import CollpressError\n"
        "try: Codec(sys.argv[1]).compress(np.zeros(9, np.float32), 1.0)\n"
        "except CollpressError as error: print(error)"
    )
    environment = os.environ | {"COLLPRESS_ZFP_LIBRARY": "/nowhere/libzfp.so", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(plugins["zfp"])],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == "" or "its library is missing" in done.stdout  # empty: this system has a libzfp of its own
