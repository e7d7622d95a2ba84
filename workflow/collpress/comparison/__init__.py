"""Two campaigns beside each other: who they are, what is kept as a baseline, and how a comparison is told."""
