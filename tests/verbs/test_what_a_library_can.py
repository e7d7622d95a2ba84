"""What is refused because of the platform's MPI library, and what is not."""

from __future__ import annotations

import pytest

from collpress.errors import CollpressError
from collpress.plan.expansion import expand
from collpress.plan.variables import refuse_unknown_variables
from collpress.spec.files import campaign_text, platform_text
from collpress.spec.platform import Platform

CAMPAIGN = """
title: t
experiments:
  e:
    matrix: {collective: bcast, algorithm: ALGORITHM, message_bytes: 3Gi, dtype: int8, ranks: 2}
"""


def platform(mpi: str, knobs: str = "{}") -> Platform:
    return platform_text(
        f"""
title: here
toolchain: {{mpi: {mpi}, from: wheel}}
launcher: mpiexec
limits: {{nodes: 1, ranks_per_node: 2, memory_bytes: 100Gi}}
backends: {{mpi: {{controls: {mpi}}}}}
knobs: {knobs}
"""
    )


@pytest.mark.parametrize(
    ("mpi", "algorithm", "refused"),
    [
        ("openmpi", "library:default", True),
        ("openmpi", "reference:chain", False),
        ("mpich", "library:default", False),
        ("mpich", "reference:chain", False),
    ],
)
def test_only_open_mpis_own_calls_count_no_further_than_a_c_int(mpi: str, algorithm: str, refused: bool) -> None:
    """docs/measuring.md: our algorithms send pieces, and MPICH has calls for large counts."""
    [point] = expand(campaign_text(CAMPAIGN.replace("ALGORITHM", algorithm)), platform(mpi), {}).points
    assert ("counts at most" in str(point.unsupported)) == refused


@pytest.mark.parametrize(("mpi", "name"), [("openmpi", "MPIR_CVAR_CH4_NUM_VCIS"), ("mpich", "OMPI_MCA_coll")])
def test_a_knob_of_another_library_would_compare_a_thing_with_itself(mpi: str, name: str) -> None:
    with pytest.raises(CollpressError, match=f"{name} is a variable of another MPI library: {mpi} ignores it"):
        refuse_unknown_variables(platform(mpi, f"{{one: {{{name}: 1}}}}"), "/nowhere/mpicxx", ["one"])
