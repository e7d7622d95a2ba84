"""collpress: reproducible benchmark campaigns of collective communication, with and without compression."""

__version__ = "0.1.0"
