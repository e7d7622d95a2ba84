"""Real data beside the checkout, where there are any: the card agrees with statistics that other programs measured."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
from arrays import card_of

from collpress.layout import ROOT

DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA}")

KATRINA = {  # bits a byte of all four moments; ratio of the first one at rel 1e-3 by dual quantisation and 3-D Lorenzo
    "U": (7.06, 12.7),
    "V": (7.30, 13.0),
    "W": (7.31, 13.6),
    "P": (6.11, 15.8),
    "T": (7.08, 13.2),
    "QVAPOR": (6.91, 10.6),
    "QCLOUD": (0.48, 44.8),
    "QRAIN": (2.33, 33.7),
}


@pytest.mark.parametrize("name", KATRINA)
def test_hurricane_katrina_has_its_byte_entropy_and_its_ratio(name: str) -> None:
    """Entropies are known to two digits; ratios within 1 %, for what stands before the first value may differ."""
    with netCDF4.Dataset(DATA / "katrina_wrf_ci_test_file.nc") as file:
        file.set_auto_maskandscale(False)
        values = np.asarray(file[name][:])
    entropy, ratio = KATRINA[name]
    assert card_of(values)["bits"]["byte_entropy"] == pytest.approx(entropy, abs=0.0051)
    assert card_of(values[0])["lorenzo"]["predictors"][2]["estimated_ratio"] == pytest.approx(ratio, rel=0.01)


def test_keys_of_a_language_model_have_outlier_channels_and_the_entropy_of_bfloat16_weights() -> None:
    """Published: about 10.6 of 16 bits, 2.6 to 2.8 of them in the exponent; few channels of keys are very large."""
    bits = np.fromfile(DATA / "smollm2_kv_L15_K_3x256x64.bf16", "<u2").reshape(3, 256, 64)
    found = card_of(bits)
    assert found["bits"]["bfloat16_entropy"] == pytest.approx(10.6, abs=0.1)
    assert found["bits"]["exponent_entropy"] == pytest.approx(2.7, abs=0.15)
    assert found["channels"]["largest"]["ratio"] > 8
    assert 0 < found["channels"]["outliers"] < 20
