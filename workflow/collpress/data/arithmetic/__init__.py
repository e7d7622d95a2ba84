"""Arithmetic with the same bits everywhere, for what reaches a generated dataset.

Only random words whose stream numpy keeps (Philox), operations that IEEE 754 rounds correctly (+ − × ÷ √, each its own
ufunc call, so that no compiler fuses two of them), and exact ones (comparison, absolute value, exponent). No logarithm,
power or sine of a library, no complex product and no sum of numpy: their last bits change with the version and the
processor.
"""
