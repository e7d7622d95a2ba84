"""Metric plugins from Python: the same shared objects that the native core loads, through ctypes and without MPI."""

from collpress.metrics.metric import Metric

__all__ = ["Metric"]
