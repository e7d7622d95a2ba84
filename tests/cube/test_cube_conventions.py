"""The cube as a file for other tools: CF-1.11 attributes, no filled integers, no string that means "missing"."""

from __future__ import annotations

import re
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

from collpress.cube.axes import FACTORS

UNITS = {"s", "byte", "byte s-1", "1", "dB"}


def variables(cube: xr.DataTree) -> list[tuple[str, xr.DataArray]]:
    return [(f"{node.name}/{name}", node.ds[name]) for node in cube.children.values() for name in node.ds.variables]


def test_global_attributes_follow_cf_and_acdd(cube: xr.DataTree) -> None:
    assert cube.attrs["Conventions"] == "CF-1.11 ACDD-1.3"
    needed = (
        "title",
        "summary",
        "source",
        "history",
        "date_created",
        "id",
        "product_version",
        "schema_version",
        "campaign",
        "platform",
    )
    assert all(str(cube.attrs[name]) for name in needed)


def test_names_are_plain(cube: xr.DataTree) -> None:
    names = {str(n) for node in cube.children.values() for n in (*node.ds.variables, *node.ds.dims)}
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)


def test_every_variable_is_described(cube: xr.DataTree) -> None:
    for name, variable in variables(cube):
        assert variable.attrs.get("long_name"), name
        if variable.dtype.kind == "f":
            # A number in units of the data has none of its own: they differ from dataset to dataset.
            in_units_of_data = "in units of the data" in str(variable.attrs.get("comment", ""))
            assert in_units_of_data != ("units" in variable.attrs), name
            assert variable.attrs.get("units", "1") in UNITS, name


def test_ancillary_variables_exist(cube: xr.DataTree) -> None:
    for node in cube.children.values():
        for name, variable in node.ds.variables.items():
            named = str(variable.attrs.get("ancillary_variables", "")).split()
            assert set(named) <= set(node.ds.variables), name


def test_cell_methods_name_a_dimension(cube: xr.DataTree) -> None:
    for name, variable in variables(cube):
        if "cell_methods" in variable.attrs:
            assert re.fullmatch(r"launch: (median|minimum|maximum)", variable.attrs["cell_methods"]), name


def test_flags_have_the_type_of_their_variable_and_one_meaning_each(cube: xr.DataTree) -> None:
    flagged = [(n, v) for n, v in variables(cube) if "flag_meanings" in v.attrs]
    assert len(flagged) >= 2 * 5
    for name, variable in flagged:
        values = np.atleast_1d(variable.attrs["flag_values"])
        assert values.dtype == variable.dtype, name
        assert len(values) == len(set(str(variable.attrs["flag_meanings"]).split())), name
        assert set(np.unique(variable.values)) <= set(values.tolist()), name


@pytest.mark.parametrize("experiment", ["tuning", "compression"])
def test_integers_have_no_fill_and_floats_have_nan(folder: Path, experiment: str) -> None:
    with netCDF4.Dataset(folder / "cube.nc") as file:
        for name, variable in file[experiment].variables.items():
            kind = np.dtype(variable.dtype).kind if variable.dtype is not str else "U"
            assert hasattr(variable, "_FillValue") == (kind == "f"), name


def test_no_text_is_empty(cube: xr.DataTree) -> None:
    for name, variable in variables(cube):
        if variable.dtype.kind in "OUT":
            assert all(str(v) for v in variable.values.ravel()), name


def test_axes_are_all_factors_in_order_and_sizes_are_exact_integers(cube: xr.DataTree) -> None:
    for node in cube.children.values():
        assert node.ds["status"].dims == FACTORS
        assert node.ds["message_bytes"].dtype == np.int64
        assert node.ds["ranks"].dtype == node.ds["nodes"].dtype == np.int32


def test_error_bounds_are_texts_with_a_number_beside_them(cube: xr.DataTree) -> None:
    group = cube["compression"].ds
    assert group["error_bound"].values.tolist() == ["none", "rel 1e-2", "rel 1e-3", "rel 1e-4"]
    assert group["error_bound_mode"].values.tolist() == ["none", "rel", "rel", "rel"]
    np.testing.assert_array_equal(group["error_bound_value"], [np.nan, 1e-2, 1e-3, 1e-4])


def test_five_launches_say_how_sure_their_limits_are(cube: xr.DataTree) -> None:
    for name in ("latency_ci_low", "latency_ci_high"):
        comment = cube["tuning"].ds[name].attrs["comment"]
        assert "smallest and the largest of 5 launches" in comment
        assert "93.75 %" in comment


def test_the_bus_bandwidth_states_its_formula(cube: xr.DataTree) -> None:
    assert "allreduce: 2 (p - 1) / p" in cube["tuning"].ds["busbw"].attrs["formula"]
