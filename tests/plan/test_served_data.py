"""Slices, parts and bfloat16: when data suffice, what the core is told, and what it does to ids and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collpress.fidelity import grain
from collpress.plan import serving
from collpress.plan.expansion import expand
from collpress.plan.identity import point_id, point_key
from collpress.plan.lines import plan_line
from collpress.plan.machine import Machine
from collpress.plan.offer import Dataset, Offer
from collpress.spec import Platform
from collpress.spec.campaign import Measure

SLICED = Dataset("weather/theta", "float32", 1000, "theta.bin", "0123456789abcdef" * 4, 4000)
CAPTURED = Dataset("captures/grad", "bfloat16", 3000, "grad.bin", "f" * 64, 6000, parts=3)
DATASETS = {d.id: d for d in (SLICED, CAPTURED)}


def points(write: Any, platform: Platform, offer: Offer, matrix: str) -> list[Any]:
    return expand(write(f"matrix: {{{matrix}}}"), platform, DATASETS, offer).points


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ("dataset: captures/grad, message_bytes: 4000, ranks: 3", None),
        (
            "dataset: captures/grad, message_bytes: 4, ranks: 4",
            "captures/grad has 3 parts, one for each rank; there are 4 ranks (data are never",
        ),
        (
            "dataset: captures/grad, message_bytes: 4004, ranks: 2",
            "a part of captures/grad has 1000 elements; a rank sends 1001 (data are never",
        ),
        (
            "dataset: captures/grad, dtype: float64",
            "the dataset captures/grad holds bfloat16, which is sent as it is or as float32, not float64",
        ),
        ("dataset: captures/grad, message_bytes: 64Ki, ranks: 8, wrap: mirror", None),
        ("dataset: weather/theta, message_bytes: 64Ki, ranks: 8, wrap: perturb", None),
    ],
)
def test_data_suffice_or_it_is_said_why_not(
    write: Any, platform: Platform, offer: Offer, matrix: str, reason: str | None
) -> None:
    [point] = points(write, platform, offer, matrix)
    if reason is None:
        assert point.unsupported is None
    else:
        assert str(point.unsupported).startswith(reason)


def line_of(factors: dict[str, Any], offer: Offer) -> dict[str, str]:
    line = plan_line("k", "i", factors, offer, DATASETS, Measure())
    return {k: v for k, v in line.items() if k.startswith(("data", "wrap", "row", "plane"))}


@pytest.mark.parametrize(
    ("shape", "parts", "row_and_plane"),
    [
        ((6, 10, 83, 80), None, (80, 6640)),
        ((1, 100, 500, 400), None, (400, 200_000)),
        ((83, 1, 80), None, (80, 0)),
        ((413_340,), None, (0, 0)),
        ((1, 7), None, (0, 0)),
        ((), None, (0, 0)),
        ((3, 20, 50), 3, (50, 0)),
        ((1, 4, 20, 50), 1, (50, 1000)),
        ((3, 1000), 3, (0, 0)),
    ],
)
def test_a_row_and_a_plane_are_those_of_one_array(
    shape: tuple[int, ...], parts: int | None, row_and_plane: tuple[int, int]
) -> None:
    assert grain(shape, parts) == row_and_plane


def test_the_core_is_told_the_shape_where_there_is_one(write: Any, platform: Platform, offer: Offer) -> None:
    [point] = points(write, platform, offer, "dataset: weather/theta")
    for shape, told in [((20, 10), {"row": "10"}), ((10, 20, 50), {"row": "50", "plane": "1000"}), ((100,), {})]:
        row, plane = grain(shape)
        dataset = replace(SLICED, row=row, plane=plane)
        line = plan_line("k", "i", point.factors, offer, {dataset.id: dataset}, Measure())
        assert {key: line[key] for key in ("row", "plane") if key in line} == told


def test_the_core_is_told_only_what_is_not_usual(write: Any, platform: Platform, offer: Offer) -> None:
    sliced, captured = points(write, platform, offer, "dataset: ['weather/theta', 'captures/grad']")
    usual = {"data": "file", "data_path": "theta.bin", "data_elements": "1000", "data_unique_bytes": "4000"}
    assert line_of(sliced.factors, offer) == usual
    assert line_of(captured.factors, offer) == {
        "data": "file",
        "data_path": "grad.bin",
        "data_elements": "3000",
        "data_unique_bytes": "6000",
        "data_dtype": "bfloat16",
        "data_parts": "3",
    }
    [wrapped] = points(write, platform, offer, "dataset: weather/theta, wrap: perturb")
    seed = {"wrap": "perturb", "wrap_seed": str(0x0123456789ABCDEF), "wrap_amplitude": "0.000244140625"}
    assert line_of(wrapped.factors, offer) == usual | seed


def test_a_wrap_is_a_point_of_its_own_and_none_leaves_older_ids_alone(
    write: Any, platform: Platform, offer: Offer
) -> None:
    wraps = points(write, platform, offer, "dataset: weather/theta, wrap: [none, mirror, perturb, repeat]")
    assert len({p.id for p in wraps}) == 4
    factors = dict(wraps[0].factors)
    assert factors.pop("wrap") == "none"
    assert point_id(factors) == wraps[0].id


def test_nothing_wraps_what_the_core_makes_itself(write: Any, platform: Platform, offer: Offer) -> None:
    both = points(write, platform, offer, "wrap: [none, mirror]")
    assert [p.factors["wrap"] for p in both] == ["none"]


def test_how_the_same_bytes_are_served_is_part_of_the_key(
    write: Any, platform: Platform, offer: Offer, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    [wrapped] = points(write, platform, offer, "dataset: weather/theta, wrap: perturb")

    def key(dataset: Dataset) -> str:
        factors = wrapped.factors
        return point_key("id", factors, offer, {dataset.id: dataset}, {}, Measure(), machine)

    keys = [key(SLICED), key(replace(SLICED, parts=2)), key(replace(SLICED, dtype="bfloat16"))]
    keys += [key(replace(SLICED, row=10)), key(replace(SLICED, row=10, plane=100))]
    monkeypatch.setitem(serving._AMPLITUDE, "float32", 0.5)
    keys.append(key(SLICED))
    assert len(set(keys)) == 6


def test_a_private_dataset_has_its_public_name_behind_the_plan(write: Any, platform: Platform, offer: Offer) -> None:
    datasets = {"lab/secret": replace(SLICED, id="private-01234567"), "captures/grad": CAPTURED}
    campaign = write(
        "matrix: {dataset: ['lab/*', captures/grad], message_bytes: [8, 4Ki]}, "
        'exclude: [{when: dataset == "lab/secret" and message_bytes == 8}]'
    )
    expansion = expand(campaign, platform, datasets, offer)
    told = [(p.factors["dataset"], p.unsupported) for p in expansion.points]
    assert [name for name, _ in told] == ["private-01234567", "captures/grad", "captures/grad"]
    assert str(told[0][1]).startswith("private-01234567 has 1000 elements")
    (cut,) = expansion.excluded
    assert cut.factors["dataset"] == "private-01234567"
    assert cut.why == 'exclude: dataset == "private-01234567" and message_bytes == 8'
