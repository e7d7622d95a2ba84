"""HDF5: one dataset of a file, by its path."""

from __future__ import annotations

from pathlib import Path

import h5py

from collpress.data.formats import Hdf5Dataset
from collpress.data.readers.stored import Stored, of_array
from collpress.errors import CollpressError, did_you_mean
from collpress.files import require_memory


def read(path: Path, form: Hdf5Dataset) -> Stored:
    """The dataset's values. Errors: not HDF5 or damaged, no such dataset (with the nearest), a scalar or none."""
    where = f"{path}: {form.dataset}"
    try:
        with h5py.File(path, "r") as file:
            found = file.get(form.dataset)
            if not isinstance(found, h5py.Dataset):
                known = _datasets(file)
                hint = did_you_mean(form.dataset, known)
                allowed = ", ".join(known) or "the file has no dataset"
                raise CollpressError(f'no dataset "{form.dataset}"', where=str(path), allowed=allowed, fix=hint)
            if not found.shape:
                raise CollpressError("the dataset is a scalar, or empty", where=where, allowed="an array")
            require_memory(found.nbytes, where)
            return of_array(found[...])
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise CollpressError(f"cannot read it as HDF5: {error}", where=where) from None


def _datasets(file: h5py.File) -> list[str]:
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return sorted(names)
