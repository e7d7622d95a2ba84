"""The codecs, compiled once a session."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from codec_building import NAMES, VARIANTS, build

from collpress.codecs import Codec, zfp_library


@pytest.fixture(scope="session")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Plugins by name; `deltapack-portable`, `deltapack-dense-portable` and so on for the variants."""
    folder = tmp_path_factory.mktemp("codecs")
    jobs = {name: (name, folder / "plain", list[str]()) for name in NAMES}
    for name in ("deltapack", "deltapack-dense"):
        jobs |= {f"{name}-{variant}": (name, folder / variant, flags) for variant, flags in VARIANTS.items()}
    jobs |= {f"{name}-portable": (name, folder / "portable", VARIANTS["portable"]) for name in ("int8", "bf16", "fp16")}
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(jobs, pool.map(lambda job: build(*job), jobs.values()), strict=True))


@pytest.fixture(params=NAMES)
def codec(request: pytest.FixtureRequest, plugins: dict[str, Path]) -> Codec:
    """Each codec in turn."""
    if request.param == "zfp" and zfp_library() is None:
        pytest.skip("zfpy's library is not installed")
    return Codec(plugins[request.param])


@pytest.fixture(scope="session")
def deltapack(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack"])


@pytest.fixture(scope="session")
def portable(plugins: dict[str, Path]) -> Codec:
    return Codec(plugins["deltapack-portable"])
