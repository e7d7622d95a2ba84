"""One point measured alone, once more, in a folder of its own: for somebody who doubts a number.

The journals of its campaign are not touched: what they hold is the truth of that campaign, and the cube is made of them
only. A rerun has its own journal under `results/reruns/<id>/<n>/`, in the same layout, and never enters a cube.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collpress.errors import CollpressError
from collpress.execute.batch import Batch, BatchPoint, read_batch
from collpress.execute.supervisor import Swept, sweep
from collpress.files import sha256_of, unwritable
from collpress.layout import Places, reruns
from collpress.plan.built import read_build
from collpress.plan.frozen import read_json
from collpress.plan.machine import this_machine


@dataclass(frozen=True)
class Rerun:
    """What came of it.

    directory : `results/reruns/<id>/<n>`.
    differences : what is not as it was when the plan was frozen; with any of them another thing was measured.
    """

    directory: Path
    point: BatchPoint
    launches: int
    swept: Swept
    differences: list[str]


def rerun(places: Places, point: Mapping[str, Any], launches: int | None = None) -> Rerun:
    """Measure one point of a frozen plan in fresh launches.

    Parameters
    ----------
    point : its entry in plan/points.json.
    launches : how many; as many as the plan has when None.

    Raises
    ------
    CollpressError : the point cannot run (with the plan's reason), its batch index or the build is missing, or nothing
        can be written.
    """
    reason = point["unsupported"] or point["failed"]
    if reason is not None or point["batch"] is None:
        raise CollpressError(
            f"this point cannot be measured: {reason or 'it is in no batch'}",
            where=f"{point['id']} of {places.campaign} on {places.platform}",
            fix="remove the reason, then run the campaign again",
        )
    batch = read_batch(places.batch_index(point["batch"]))
    own = _point_of(batch, point["key"], places)
    changed = list(differences(places, own, batch))
    directory = _next(reruns(point["id"]))
    alone = batch.model_copy(update={"points": [own], "launches": launches or batch.launches})
    return Rerun(directory, own, alone.launches, sweep(alone, directory), changed)


def differences(places: Places, point: BatchPoint, batch: Batch) -> Iterator[str]:
    """What of core, plugins, data and machine is not what the point's key was made of, in words."""
    frozen = read_json(places.inventory, f"take it again: collpress inventory {places.campaign}")
    core = read_build(batch.build)["core"]
    if core["sha256"] != frozen["build"]["core"]["sha256"]:
        yield "the core was built anew since the plan was frozen"
    if sha256_of(batch.core) != core["sha256"]:
        yield f"{batch.core} is not the file that {batch.build} describes"
    hashes = {row["path"]: row["sha256"] for kind in ("algorithms", "codecs") for row in frozen[kind] if row["path"]}
    for entry in ("plugin", "codec_plugin"):
        path = point.line.get(entry)
        if path is not None and sha256_of(Path(path)) != hashes.get(path):
            yield f"the plugin {path} was built anew since the plan was frozen"
    known = {row["path"]: row["sha256"] for row in frozen["datasets"]}
    data = point.line.get("data_path")
    if data is not None and sha256_of(Path(data)) != known.get(data):
        yield f"{data} holds other data than when the plan was frozen"
    model = this_machine().cpu_model
    if model != frozen["machine"]["cpu_model"]:
        yield f"this machine has another processor: {model}, not {frozen['machine']['cpu_model']}"


def _point_of(batch: Batch, key: str, places: Places) -> BatchPoint:
    own = next((point for point in batch.points if point.key == key), None)
    if own is None:
        raise CollpressError(
            "the plan and its batch index do not agree",
            where=str(places.batch_index(batch.batch)),
            fix=f"freeze them again: collpress inventory {places.campaign} --platform {places.platform}",
        )
    return own


def _next(folder: Path) -> Path:
    """A new numbered folder; of two who ask at the same time each gets its own."""
    number = 1 + max((int(path.name) for path in folder.glob("*") if path.name.isdecimal()), default=0)
    while True:
        try:
            (folder / str(number)).mkdir(parents=True)
            return folder / str(number)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise unwritable(folder, error) from None
