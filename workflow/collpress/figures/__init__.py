"""Cubes → figures: one module a family, found by its file's name. Importing this package imports no matplotlib."""
