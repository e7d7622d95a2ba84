"""Cubes → figures: one module a family, found by its file's name. Importing this package imports no matplotlib."""

import os

# A figure is a file, never a window; and a backend that matplotlib does not know makes its very import raise.
os.environ.pop("MPLBACKEND", None)
