"""Statistics over launches and bandwidths: functions from xarray objects to xarray objects."""
