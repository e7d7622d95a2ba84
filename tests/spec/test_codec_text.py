"""A codec with settings has one spelling, and nothing else passes for one."""

from __future__ import annotations

import pytest

from collpress.errors import CollpressError
from collpress.spec.codec_text import codec_name, codec_settings, with_settings
from collpress.spec.factors import FACTORS


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("zfp", "zfp"),
        ("int*", "int*"),
        (" int4 ( rounding = nearest,group=064 ) ", "int4(group=64,rounding=nearest)"),
        ("topk(density=1e-2)", "topk(density=0.01)"),
        ("topk(density=0.010000000000000002)", "topk(density=0.010000000000000002)"),
    ],
)
def test_there_is_one_spelling(written: str, canonical: str) -> None:
    assert FACTORS["codec"].parse(written) == canonical
    assert FACTORS["codec"].parse(canonical) == canonical
    assert with_settings(codec_name(canonical), codec_settings(canonical)) == canonical


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("int4()", '"" in "int4()" is not NAME=VALUE'),
        ("int4(64)", '"64" in "int4(64)" is not NAME=VALUE'),
        ("int4(group=64", "cannot name a codec"),
        ("int4(group=6;4)", "is not NAME=VALUE"),
        ("int4(group=64,group=32)", "gives group twice"),
        ("int*(group=64)", "gives settings to a pattern"),
        (None, "codec is empty"),
        (4, "cannot name a codec"),
    ],
)
def test_anything_else_is_refused(written: object, told: str) -> None:
    with pytest.raises(CollpressError) as error:
        FACTORS["codec"].parse(written)
    assert told in str(error.value)
