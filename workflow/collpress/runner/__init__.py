"""The backend `mpi4py`: the points of a plan, called from Python, so that their cost stands beside the native core's.

It reads the core's plan file and writes the core's journal (docs/contracts.md). Only NumPy, mpi4py and the standard
library live in its process: what it measures is a collective called from Python, and nothing else.
"""
