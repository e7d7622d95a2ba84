"""The metrics that were built for a platform, from its build.json."""

from __future__ import annotations

from pathlib import Path

from collpress.codecs.catalog import built_plugins
from collpress.layout import ROOT
from collpress.metrics.metric import Metric


def built_metrics(platform: str, root: Path = ROOT) -> list[Metric]:
    """Load every metric of `results/native/<platform>/build.json`, in order of name.

    Raises CollpressError when nothing was built, or what was built is gone.
    """
    return [Metric(path) for path in built_plugins(platform, "metric", root)]
