"""SZ3 as the reference for quality: its bound, its streams, and what is said where pysz is not installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from codec_judgement import power_law, violations
from required import skip_unless_required

from collpress.codecs import sz3
from collpress.errors import CollpressError


@pytest.fixture
def pysz() -> None:
    if not sz3.installed():
        skip_unless_required("sz3", "pysz is not installed")


@pytest.mark.usefixtures("pysz")
@pytest.mark.parametrize("dtype", sz3.DTYPES)
@pytest.mark.parametrize("mode", sz3.MODES)
def test_a_field_comes_back_within_the_bound_and_in_its_shape(mode: str, dtype: str) -> None:
    field = power_law(32).astype(dtype).reshape(32, 32, 32)
    bound = 1e-2 * float(np.ptp(field))
    stream = sz3.compress(field, bound, mode)
    back = sz3.decompress(stream, field.shape, dtype)
    assert back.shape == field.shape
    assert field.nbytes / stream.size > 6
    assert violations(field.ravel(), back.ravel(), bound * 1.001) == []  # its own rounding is not in its bound


@pytest.mark.usefixtures("pysz")
def test_the_shape_is_what_it_predicts_along() -> None:
    field = power_law(32).reshape(32, 32, 32)
    cube, line = (sz3.compress(values, 0.01, "LORENZO_REG").size for values in (field, field.ravel()))
    assert cube < 0.95 * line


@pytest.mark.usefixtures("pysz")
def test_what_it_does_not_take_is_a_users_mistake() -> None:
    values = np.ones((4, 4), np.float32)
    for bad, said in (
        (lambda: sz3.compress(values, 0.0, "LORENZO_REG"), "needs an absolute error bound"),
        (lambda: sz3.compress(values, 1.0, "BEST"), 'no mode "BEST"'),
        (lambda: sz3.compress(values.astype(np.float16), 1.0, "LORENZO_REG"), "does not take float16"),
        (lambda: sz3.compress(values[:0], 1.0, "LORENZO_REG"), "no empty arrays"),
        (lambda: sz3.decompress(sz3.compress(values, 1.0, "LORENZO_REG")[:9], (4, 4), "float32"), "smaller than"),
    ):
        with pytest.raises(CollpressError, match=said):
            bad()


def test_without_pysz_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysz", None)
    with pytest.raises(CollpressError, match=r"pysz.*is not installed") as caught:
        sz3.compress(np.ones(4, np.float32), 1.0, "LORENZO_REG")
    assert "envs/sz3.txt" in str(caught.value)
