"""Statistics over launches, ratios and bandwidths: functions from xarray objects to xarray objects."""
