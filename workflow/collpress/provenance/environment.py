"""The environment variables that can change a measurement; no others are ever written down."""

from __future__ import annotations

import os
from collections.abc import Mapping

NAMES = frozenset({"LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "TZ"})
PREFIXES = (
    "COLLPRESS_",
    "GOMP_",
    "HYDRA_",
    "KMP_",
    "MALLOC_",
    "MPICH_",
    "MPIR_CVAR_",
    "NCCL_",
    "OMP_",
    "OMPI_",
    "OPAL_",
    "PMIX_",
    "PRTE_",
    "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_PARTITION",
    "SLURM_NTASKS",
    "UCX_",
)
SECRETS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")


def environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables worth recording, sorted; a name that could hold a secret never is."""
    return {name: variables[name] for name in sorted(variables) if _worth(name)}


def _worth(name: str) -> bool:
    return (name in NAMES or name.startswith(PREFIXES)) and not any(word in name.upper() for word in SECRETS)
