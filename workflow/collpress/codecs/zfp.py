"""Where the zfp library lies: the codec `zfp` loads the one that the `zfpy` wheel carries."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from collpress.files import sha256_of

VARIABLE = "COLLPRESS_ZFP_LIBRARY"


def zfp_library() -> Path | None:
    """Path of the shared libzfp bundled with `zfpy`, found without importing it; None where there is none.

    The wheel of zfpy 1.0 keeps it in `zfpy.libs/` beside the extension module (auditwheel's layout).
    """
    spec = importlib.util.find_spec("zfpy")
    if spec is None or not spec.origin:
        return None
    bundled = sorted((Path(spec.origin).parent / "zfpy.libs").glob("libzfp*.so*"))
    return bundled[0] if bundled else None


def libraries() -> dict[str, str]:
    """Codec → sha256 of the outside library that it will load; part of the identity of what it computes."""
    path = codec_environment().get(VARIABLE)
    return {"zfp": sha256_of(Path(path))} if path and Path(path).is_file() else {}


def codec_environment() -> dict[str, str]:
    """Environment variables by which a process finds the codecs' libraries; what the user has set stays."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return {VARIABLE: given}
    library = zfp_library()
    return {} if library is None else {VARIABLE: str(library)}
