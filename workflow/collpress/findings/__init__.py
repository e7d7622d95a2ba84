"""Cubes → findings: what the numbers say, in sentences that rules make of them."""
