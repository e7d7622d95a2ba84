"""Coverage-guided fuzzing of every decoder for a short time; `libfuzzing.py` does it for longer."""

from __future__ import annotations

from pathlib import Path

import libfuzzing
import pytest
from codec_building import NAMES, skip_without_library
from libfuzzing import fuzz, lack
from required import skip_unless_required


@pytest.fixture(scope="module", autouse=True)
def _clang() -> None:
    if (why := lack()) is not None:
        skip_unless_required("libfuzzer", why)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "none"])
def test_nothing_is_found_in_a_short_time(name: str, tmp_path: Path) -> None:
    skip_without_library(name)
    done = fuzz(name, tmp_path, "-runs=4000", "-max_total_time=15", "-seed=1")
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_decoder_that_trusts_its_stream_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 without the comparison of sizes."""
    source = (libfuzzing.SOURCES / "cast.hpp").read_text(encoding="utf-8")
    trusting = source.replace("(bytes - sizeof(StreamHeader)) / sizeof(Word) != count ||", "")
    assert trusting != source
    for path in libfuzzing.SOURCES.iterdir():
        (tmp_path / path.name).write_text(
            trusting if path.name == "cast.hpp" else path.read_text(encoding="utf-8"), encoding="utf-8"
        )
    monkeypatch.setattr(libfuzzing, "SOURCES", tmp_path)
    done = fuzz("bf16", tmp_path, "-runs=20000", "-max_total_time=20", "-seed=1")
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
