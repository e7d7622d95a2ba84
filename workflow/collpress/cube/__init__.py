"""Records → cubes: a NetCDF file per campaign and platform, one group per experiment; always rebuildable."""
