"""From a campaign and a platform to points and batches: expansion, identity, guards, the frozen plan."""
