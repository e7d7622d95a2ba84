"""Everything known about one point, gathered from plan, journals, builds and data; nothing is made or changed."""
