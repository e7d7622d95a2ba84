"""A field from a web server, of Hurricane ISABEL's shape, on its whole way: fetched, prepared, described, measured."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkout import Checkout

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))

from webserver import Answer, WebServer

SHAPE = (100, 500, 500)
ENTRY = """\
schema: 1
datasets:
  stand-in/isabel-u:
    title: Made for a test in the shape of Hurricane ISABEL's fields; no hurricane
    url:
      file: isabel-shaped.f32
      addresses: ["{address}"]
      bytes: 100000000
      sha256: "{sha256}"
      raw: {{byte_order: little}}
    dtype: float32
    shape: [100, 500, 500]
    units: m s-1
    licence: free
    citation: nobody
    sha256: "{sha256}"
"""
CAMPAIGN = """\
title: A field that a web server holds
experiments:
  squeezed:
    matrix:
      collective: allreduce
      algorithm: compressed:ring
      codec: deltapack
      error_bound: rel 1e-3
      dataset: stand-in/isabel-u
      message_bytes: 1Mi
      ranks: 2
measure: {launches: 1, precision: 20%, at_most: 100 ms}
figures: [coverage]
"""


@pytest.fixture
def values() -> bytes:
    """A wave over the plane that turns with the height."""
    z, y, x = (np.linspace(0, 6, n, dtype="<f4") for n in SHAPE)
    return np.sin(z[:, None, None] + y[:, None] * x).tobytes()


@pytest.fixture
def served(copy_checkout: Checkout, values: bytes) -> Iterator[WebServer]:
    """A server that holds the field and breaks off once in the middle; the checkout's registry knows its address."""
    server = WebServer()
    whole = Answer(values, ranges=True, headers={"ETag": '"1"'})
    server.answers["/field"] = [replace(whole, cut=60_000_000), whole]
    entry = copy_checkout.root / "config/datasets.d/served.yaml"
    entry.parent.mkdir()
    told = ENTRY.format(address=server.address("/field"), sha256=hashlib.sha256(values).hexdigest())
    entry.write_text(told, encoding="utf-8")
    yield server
    server.stop()
    shutil.rmtree(entry.parent)
    (copy_checkout.root / "results/cache/isabel-shaped.f32").unlink(missing_ok=True)
    shutil.rmtree(copy_checkout.root / "results/data/stand-in", ignore_errors=True)


def test_a_field_of_isabels_shape_is_fetched_prepared_described_and_measured(
    copy_checkout: Checkout, served: WebServer, values: bytes
) -> None:
    copy_checkout.campaign(CAMPAIGN, "fetched")
    done = copy_checkout.run("fetched")
    assert done.returncode == 0, done.stdout + done.stderr
    results = copy_checkout.root / "results"
    assert (results / "data/stand-in/isabel-u.bin").read_bytes() == values
    assert ["Range" in headers for headers in served.headers] == [False, True]
    card = json.loads((results / "cards/stand-in/isabel-u.json").read_text(encoding="utf-8"))
    assert (tuple(card["shape"]), card["sha256"]) == (SHAPE, hashlib.sha256(values).hexdigest())
    (record,) = copy_checkout.records("fetched")
    assert record["status"] == "ok"
    (point,) = copy_checkout.points("fetched")
    assert point["factors"]["dataset"] == "stand-in/isabel-u"
