"""Looks at this machine: what is there to measure with (a platform file is drafted from it), and what is wrong."""
