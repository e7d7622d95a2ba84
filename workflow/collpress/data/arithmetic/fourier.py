"""Inverse Fourier transforms on separate real and imaginary parts, radix 2, over many vectors at once.

numpy's own transforms and its complex product change their last bits with version and processor; these do not.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from collpress.data.arithmetic.words import Reals

_COLUMNS = 128  # vectors transformed together: 256 x 128 numbers, four buffers, fit a second-level cache


def roots(n: int) -> tuple[Reals, Reals]:
    """cos and sin of 2π j/n, j = 0 … n/2 − 1, from half-angle formulas; n a power of two, at least 2."""
    cosine, sine = np.ones(1), np.zeros(1)  # n = 2
    c, s = 0.0, 1.0  # the first root of n = 4
    for _ in range(n.bit_length() - 2):
        longer_c, longer_s = np.empty(2 * cosine.size), np.empty(2 * sine.size)
        longer_c[0::2], longer_s[0::2] = cosine, sine
        longer_c[1::2] = cosine * c - sine * s
        longer_s[1::2] = cosine * s + sine * c
        cosine, sine = longer_c, longer_s
        half = math.sqrt((1.0 + c) * 0.5)
        c, s = half, s / (2.0 * half)
    return cosine, sine


def inverse(re: Reals, im: Reals) -> tuple[Reals, Reals]:
    """Σ_k X[k] e^(+2πi jk/n) along the first axis (no 1/n).

    Parameters
    ----------
    re, im : contiguous, shape (n, columns), n a power of two; overwritten.

    Returns
    -------
    Real and imaginary parts, same shape. Stockham's order: no bit reversal, the columns innermost in every operation.
    """
    n, columns = re.shape
    spare_re, spare_im = np.empty(re.shape), np.empty(im.shape)
    length, stride = n, 1
    while length > 1:
        half = length // 2
        cosine, sine = (w[:, None, None] for w in roots(length))
        a_re, b_re = re.reshape(2, half, stride, columns)
        a_im, b_im = im.reshape(2, half, stride, columns)
        out_re, out_im = (x.reshape(half, 2, stride, columns) for x in (spare_re, spare_im))
        np.add(a_re, b_re, out=out_re[:, 0])
        np.add(a_im, b_im, out=out_im[:, 0])
        d_re, d_im = a_re - b_re, a_im - b_im
        np.multiply(d_re, cosine, out=out_re[:, 1])
        np.multiply(d_re, sine, out=out_im[:, 1])
        np.multiply(d_im, cosine, out=d_re)
        np.multiply(d_im, sine, out=d_im)
        np.subtract(out_re[:, 1], d_im, out=out_re[:, 1])
        np.add(out_im[:, 1], d_re, out=out_im[:, 1])
        re, im, spare_re, spare_im = spare_re, spare_im, re, im
        length, stride = half, 2 * stride
    return re, im


def inverse_real(re: Reals, im: Reals) -> Reals:
    """The real vectors whose half spectra are given: n times what numpy's irfft gives, as there is no 1/n.

    Parameters
    ----------
    re, im : shape (m + 1, columns), wave numbers 0 … m of n = 2m values; the imaginary parts of the first and last
    count as 0.

    Returns
    -------
    Shape (2m, columns).
    """
    m = re.shape[0] - 1
    re, im = re.copy(), im.copy()
    im[0] = im[m] = 0.0
    cosine, sine = roots(2 * m)
    even_re, even_im = re[:m] + re[:0:-1], im[:m] - im[:0:-1]
    diff_re, diff_im = re[:m] - re[:0:-1], im[:m] + im[:0:-1]
    odd_re = diff_re * cosine[:, None] - diff_im * sine[:, None]
    odd_im = diff_re * sine[:, None] + diff_im * cosine[:, None]
    z_re, z_im = inverse(even_re - odd_im, even_im + odd_re)
    values = np.empty((2 * m, re.shape[1]))
    values[0::2], values[1::2] = z_re, z_im
    return values


def inverse_real_field(re: Reals, im: Reals) -> Reals:
    """The real field of a half spectrum of shape (n0, n1, n2/2 + 1); `re` and `im` are overwritten. No 1/n."""
    n0, n1, kept = re.shape
    edges = [*range(0, n1 * kept, _COLUMNS), n1 * kept]
    flat_re, flat_im = re.reshape(n0, -1), im.reshape(n0, -1)
    for start, stop in pairwise(edges):
        block = inverse(flat_re[:, start:stop].copy(), flat_im[:, start:stop].copy())
        flat_re[:, start:stop], flat_im[:, start:stop] = block
    field = np.empty((n0, n1, 2 * (kept - 1)))
    for i in range(n0):
        plane_re, plane_im = inverse(re[i].copy(), im[i].copy())
        field[i] = inverse_real(plane_re.T, plane_im.T).T
    return field
