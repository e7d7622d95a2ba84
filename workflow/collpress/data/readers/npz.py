"""numpy's .npz: one array of an archive, by its key."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from collpress.data.formats import NpyArray
from collpress.data.readers.npy import DAMAGED, as_said
from collpress.data.readers.stored import Stored
from collpress.errors import CollpressError, did_you_mean


def read(path: Path, form: NpyArray) -> Stored:
    """The array. Errors: not a .npz file, damaged, no such key, or an array of objects."""
    key = str(form.key)
    try:
        content = np.load(path, allow_pickle=False)
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise ValueError("this is a .npy file")
        with content:
            if key not in content:
                known = list(content)
                allowed, hint = ", ".join(known) or "the file is empty", did_you_mean(key, known)
                raise CollpressError(f'no array "{key}"', where=str(path), allowed=allowed, fix=hint)
            values = content[key]
            if not isinstance(values, np.ndarray):
                raise ValueError(f"{key} is no array")
            return as_said(values, form, f"{path}: {key}")
    except (*DAMAGED, zipfile.BadZipFile, zlib.error) as error:
        raise CollpressError(f"cannot read it as .npz: {error}", where=str(path)) from None
