"""deltapack's sums: onto values (accumulate), and of two streams without decompressing (add)."""

from __future__ import annotations

import functools
import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from codec_building import SOURCES, VARIANTS, build
from codec_judgement import bits, power_law, unaligned
from hypothesis import given, settings
from hypothesis import strategies as st

from collpress.codecs import Codec
from collpress.errors import CollpressError

Array = npt.NDArray[Any]
Stream = npt.NDArray[np.uint8]
DTYPES = ["float32", "float64"]


def add(codec: Codec, a: Stream, b: Stream, count: int, dtype: npt.DTypeLike, bound: float) -> Stream:
    with codec.context(dtype, bound) as context:
        out = np.empty(context.max_bytes(count), dtype=np.uint8)
        return out[: context.add_into(a, b, count, out)].copy()


def added(codec: Codec, arrays: list[Array], bound: float) -> Stream:
    """The stream of the sum of many arrays, each compressed by itself."""
    streams = [codec.compress(x, bound) for x in arrays]
    return functools.reduce(lambda a, b: add(codec, a, b, arrays[0].size, arrays[0].dtype, bound), streams)


def step_of(bound: float, dtype: npt.DTypeLike, finer: int = 0) -> Any:
    """Twice what is left of the bound after a part in 128, or 2^finer such parts, in the values' own arithmetic."""
    kind = np.dtype(dtype).type
    below = kind(bound)
    if float(below) > bound:
        below = np.nextafter(below, kind(0))
    return kind(2) * (below - below / kind(128) * kind(2**finer))


def integers(values: Array, bound: float) -> npt.NDArray[np.int64]:
    """q of decoded values that were packed with the usual step."""
    q: npt.NDArray[np.int64] = np.rint(values.astype(np.longdouble) / np.longdouble(step_of(bound, values.dtype)))
    return q.astype(np.int64)


def broken_promises(sums: Array, arrays: list[Array], bound: float) -> list[str]:
    """Where a sum is off the exact one by more than a bound for each addend and the roundings that are stated."""
    finite = np.all([np.isfinite(x) for x in arrays], axis=0) & np.isfinite(sums)
    wide = [x[finite].astype(np.longdouble) for x in arrays]
    exact, largest = sum(wide, np.longdouble(0)), sum((np.abs(x) for x in wide), np.longdouble(0))
    epsilon = np.longdouble(np.finfo(sums.dtype).eps)
    # Half an ulp for each addend, and for a raw block's additions another of the sum so far; an ulp of the result.
    allowed = len(arrays) * np.longdouble(bound) + epsilon * (len(arrays) * (largest + len(arrays) * bound))
    wrong = np.flatnonzero(np.abs(sums[finite].astype(np.longdouble) - exact) > allowed)
    return [f"{sums[finite][i]!r} is not {exact[i]!r} ± {allowed[i]!r}" for i in wrong[:3]]


def walk(seed: int, size: int, dtype: str = "float32", scale: float = 1.0) -> Array:
    return (np.cumsum(np.random.default_rng(seed).standard_normal(size)) * scale).astype(dtype)


def hard_pairs() -> list[tuple[str, Array, Array, float]]:
    """Two arrays and a bound each: everything that keeps blocks from being added as they lie."""
    pairs: list[tuple[str, Array, Array, float]] = []
    for dtype in DTYPES:
        for size in (1, 2, 31, 255, 256, 257, 1000, 65536, 65537, 66000):
            pairs += [(f"walks of {size}", walk(1, size, dtype), walk(2, size, dtype), b) for b in (10, 0.1, 1e-3)]
        a, b = walk(3, 70000, dtype), walk(4, 70000, dtype)
        for bound in (1e-5, 1e-6):
            pairs.append(("wide blocks, finer steps", a, b, bound))
        pairs.append(("one is constant", a, np.full_like(a, 3.25), 0.01))
        pairs.append(("both are constant", np.full_like(a, 7), np.full_like(a, -3.25), 0.01))
        pairs.append(("they cancel", a, -a, 0.01))
        pairs.append(("one of finer steps", a, b * np.dtype(dtype).type(1e5), 0.01))
        holes, others = a.copy(), b.copy()
        holes[::1000], holes[300:900], holes[40000] = np.nan, np.inf, 1e30
        others[500::1700], others[66000:] = -np.inf, np.nan
        pairs += [
            ("holes in one", holes, b, 0.01),
            ("holes in the other", a, holes, 0.01),
            ("in both", holes, others, 0.01),
        ]
        holes = a.copy()
        holes[0] = np.nan
        pairs.append(("a hole in front", holes, b, 0.01))
        noise = np.random.default_rng(5).standard_normal(5000).astype(dtype)
        for width in range(1, 31):
            pairs.append((f"widths of {width}", noise * 2 ** (width / 2), noise[::-1] * 2 ** (width / 3), 0.5))
        far = np.zeros(2000, dtype)  # as q they fit 32 bits, their sums do not; blocks end near 0
        far[100::256], far[150::256] = 2.0e9, -2.0e9
        pairs += [("q that overflow", far, far, 0.5), ("q that nearly do", far, -far, 0.5)]
    return [(name, np.ascontiguousarray(a), np.ascontiguousarray(b), bound) for name, a, b, bound in pairs]


def wrong_sums(codec: Codec) -> list[str]:
    """What `add` gets wrong in the hard pairs: a value may be the packed sum or the sum of the decoded, none else."""
    found: list[str] = []
    for name, a, b, bound in hard_pairs():
        stream_a, stream_b = codec.compress(a, bound), codec.compress(b, bound)
        sums = codec.decompress(add(codec, stream_a, stream_b, a.size, a.dtype, bound), a.size, a.dtype, bound)
        back_a = codec.decompress(stream_a, a.size, a.dtype, bound)
        back_b = codec.decompress(stream_b, b.size, b.dtype, bound)
        with np.errstate(all="ignore"):
            decoded = back_a + back_b
            right = (sums == decoded) | (np.isnan(sums) & np.isnan(decoded))
            for step in (step_of(bound, a.dtype, finer) for finer in range(7)):
                q = sum(np.nan_to_num(np.rint(x.astype(np.longdouble) / step)) for x in (back_a, back_b))
                right |= sums == np.asarray(q).astype(np.int64).astype(a.dtype) * step
            # A float says what q was only below 2^24; of others the promise is all that can be looked at.
            right |= np.maximum(np.abs(back_a), np.abs(back_b)) > step_of(bound, a.dtype, 6) * 2.0**23
        where = np.flatnonzero(~right)
        found += [f"{name}, {a.dtype}: [{i}] {sums[i]}, decoded {decoded[i]}" for i in where[:1]]
        found += [f"{name}, {a.dtype}: {text}" for text in broken_promises(sums, [a, b], bound)]
    return found


def test_a_codec_says_that_it_sums(deltapack: Codec) -> None:
    assert deltapack.adds
    assert deltapack.accumulates


def check_accumulate(codecs: list[Codec], offset: int = 0) -> None:
    """Accumulating is decompressing and adding, for codecs that make the same streams."""
    for _, values, start, bound in hard_pairs()[:: 1 if offset == 0 else 5]:
        stream = codecs[0].compress(values, bound)
        with np.errstate(all="ignore"):
            expected = start + codecs[0].decompress(stream, values.size, values.dtype, bound)
        for codec in codecs:
            sums = unaligned(start, offset)
            with codec.context(values.dtype, bound) as context:
                context.accumulate(stream, sums)
            special = np.isnan(expected)  # which of two NaN survives is not promised
            assert np.array_equal(bits(sums)[~special], bits(expected)[~special])
            assert np.isnan(sums[special]).all()


@pytest.mark.parametrize("name", ["deltapack", "deltapack-dense"])
@pytest.mark.parametrize("offset", [0, 4, 16])
def test_accumulating_is_decompressing_and_adding(plugins: dict[str, Path], name: str, offset: int) -> None:
    check_accumulate([Codec(plugins[name]), Codec(plugins[f"{name}-portable"])], offset)


def test_sums_are_those_of_the_integers_or_of_the_decoded_values(deltapack: Codec) -> None:
    assert wrong_sums(deltapack) == []


def test_vector_and_portable_kernels_add_alike(deltapack: Codec, portable: Codec) -> None:
    for name, a, b, bound in hard_pairs():
        streams = deltapack.compress(a, bound), deltapack.compress(b, bound)
        fast, slow = (add(codec, *streams, a.size, a.dtype, bound) for codec in (deltapack, portable))
        assert np.array_equal(fast, slow), (name, a.dtype, bound)


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_sums_are_exact_in_the_integers_for_many_ranks(deltapack: Codec, dtype: str) -> None:
    bound, size = 0.01, 70001
    arrays = [walk(seed, size, dtype) + np.dtype(dtype).type(seed % 5) for seed in range(64)]
    sums = deltapack.decompress(added(deltapack, arrays, bound), size, dtype, bound)
    q = sum(integers(deltapack.decompress(deltapack.compress(x, bound), size, dtype, bound), bound) for x in arrays)
    assert np.array_equal(bits(sums), bits(q.astype(dtype) * step_of(bound, dtype)))
    assert broken_promises(sums, arrays, bound) == []


def test_sums_of_a_field_stay_small_and_never_exceed_what_is_promised(deltapack: Codec) -> None:
    field = power_law(64)
    bound = 1e-3 * float(field.max() - field.min())
    arrays = [np.roll(field, 4097 * i) for i in range(16)]
    stream = added(deltapack, arrays, bound)
    assert field.nbytes / stream.size > 3.0  # two bits more than one addend: its ratio is 4.1
    assert broken_promises(deltapack.decompress(stream, field.size, np.float32, bound), arrays, bound) == []


def test_every_order_of_additions_gives_the_same_bytes(deltapack: Codec) -> None:
    bound = 0.05
    arrays = [walk(1, 70000), walk(2, 70000, scale=3), np.full(70000, 100, np.float32), walk(3, 70000) - 500]
    streams = [deltapack.compress(x, bound) for x in arrays]
    plus = functools.partial(add, deltapack, count=70000, dtype="float32", bound=bound)
    expected = plus(plus(plus(streams[0], streams[1]), streams[2]), streams[3])
    for a, b, c, d in itertools.permutations(streams):
        assert np.array_equal(plus(plus(plus(a, b), c), d), expected)
    assert np.array_equal(plus(plus(streams[0], streams[1]), plus(streams[2], streams[3])), expected)


def test_around_raw_blocks_every_order_gives_the_same_packed_bits(deltapack: Codec) -> None:
    arrays = [walk(seed, 5000) for seed in range(3)]
    arrays[0][300], arrays[1][2000], arrays[2][4999] = np.nan, np.inf, np.nan
    sums = [
        deltapack.decompress(added(deltapack, [arrays[i] for i in order], 0.01), 5000, np.float32, 0.01)
        for order in itertools.permutations(range(3))
    ]
    raw = np.zeros(5000, bool)
    for at in (300, 2000, 4999):
        raw[at - at % 256 : at - at % 256 + 256] = True
    assert all(np.array_equal(bits(s)[~raw], bits(sums[0])[~raw]) for s in sums)
    assert np.isnan(sums[0][[300, 4999]]).all()
    assert np.isinf(sums[0][2000])


def test_streams_of_equal_magnitude_have_equal_steps_though_they_are_finer(deltapack: Codec) -> None:
    """Values of 300,000 bounds need a finer step; two such streams are still added packed."""
    a, b = (walk(seed, 65536, scale=0.1) + np.float32(300000) for seed in (1, 2))
    one = deltapack.compress(a, 1.0)
    both = add(deltapack, one, deltapack.compress(b, 1.0), a.size, np.float32, 1.0)
    assert both.size < 1.5 * one.size


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 1500),
    exponent=st.integers(-120, 100),
    spread=st.integers(0, 30),
    bound_exponent=st.floats(-26, 4),
    difference=st.integers(-12, 12),
    dtype=st.sampled_from(DTYPES),
)
def test_sums_keep_their_promise_and_kernels_agree(
    deltapack: Codec,
    portable: Codec,
    seed: int,
    size: int,
    exponent: int,
    spread: int,
    bound_exponent: float,
    difference: int,
    dtype: str,
) -> None:
    rng = np.random.default_rng(seed)
    jumps = rng.standard_normal((3, size)) * 2.0 ** rng.uniform(-spread, 0, (3, size))
    arrays = list((np.cumsum(jumps, axis=1) * 2.0**exponent).astype(dtype))
    arrays[1] *= arrays[1].dtype.type(2.0**difference)
    bound = 2.0 ** (exponent + bound_exponent)
    stream = added(deltapack, arrays, bound)
    assert np.array_equal(stream, added(portable, arrays, bound))
    assert broken_promises(deltapack.decompress(stream, size, dtype, bound), arrays, bound) == []


def test_sums_may_have_any_alignment_and_no_values_at_all(deltapack: Codec) -> None:
    a, b = deltapack.compress(walk(1, 3000), 0.01), deltapack.compress(walk(2, 3000), 0.01)
    expected = add(deltapack, a, b, 3000, np.float32, 0.01)
    assert np.array_equal(add(deltapack, unaligned(a, 1), unaligned(b, 3), 3000, np.float32, 0.01), expected)
    none = deltapack.compress(np.zeros(0, np.float32), 0.01)
    assert np.array_equal(add(deltapack, none, none, 0, np.float32, 0.01), none)


@pytest.mark.parametrize("holes", [False, True])
def test_a_small_buffer_is_refused_and_nothing_is_written_behind_it(deltapack: Codec, holes: bool) -> None:
    a, b = walk(1, 1500), walk(2, 1500)
    if holes:
        a[500] = np.nan
    streams = deltapack.compress(a, 0.01), deltapack.compress(b, 0.01)
    size = add(deltapack, *streams, 1500, np.float32, 0.01).size
    with deltapack.context(np.float32, 0.01) as context:
        for capacity in [*range(0, size, 41), size - 1]:
            memory = np.full(size + 64, 0xA5, dtype=np.uint8)
            with pytest.raises(CollpressError, match="too small"):
                context.add_into(*streams, 1500, memory[:capacity])
            assert (memory[capacity:] == 0xA5).all()
        assert context.add_into(*streams, 1500, memory[:size]) == size


def test_damaged_streams_are_not_added(deltapack: Codec) -> None:
    good = deltapack.compress(walk(1, 700), 0.01)
    bad = [good[:size].copy() for size in (0, 31, 32, 40, 60, good.size - 1)] + [np.append(good, np.uint8(0))]
    bad += [deltapack.compress(walk(1, 699), 0.01), deltapack.compress(walk(1, 700), 0.02)]
    bad += [deltapack.compress(walk(1, 700, "float64"), 0.01)]
    for byte in range(32 + 24 + 3):
        damaged = good.copy()
        damaged[byte] ^= np.uint8(1 << byte % 8)
        bad.append(damaged)
    for stream in bad:
        for pair in ((stream, good), (good, stream)):
            with pytest.raises(CollpressError, match="damaged"):
                add(deltapack, *pair, 700, np.float32, 0.01)
        with deltapack.context(np.float32, 0.01) as context, pytest.raises(CollpressError, match="damaged"):
            context.accumulate(stream, np.zeros(700, np.float32))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("packs = representable(q[i]);", "packs = true;"),
        ("unsigned char *to = sink.next(kRaw", "before += delta[0];\n        unsigned char *to = sink.next(kRaw"),
        ("alike = a.header.step == b.header.step;", "alike = true;"),
        ("sum = sum + x;", "sum = x;"),
    ],
    ids=["overflow", "state behind a raw block", "steps", "raw blocks of accumulate"],
)
def test_wrong_sums_are_noticed(tmp_path: Path, right: str, wrong: str) -> None:
    """A codec with one thing wrong: the tests above see it."""
    sources = tmp_path / "codecs"
    shutil.copytree(SOURCES, sources)
    mutated = [header for header in sources.glob("deltapack_*.hpp") if right in header.read_text(encoding="utf-8")]
    for header in mutated:
        header.write_text(header.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    assert len(mutated) == 1
    flags = [*VARIANTS["portable"], "-O1", "-Wno-error"]
    mutant = Codec(build("deltapack", tmp_path, flags, sources))
    if right == "sum = sum + x;":
        with pytest.raises(AssertionError):
            check_accumulate([mutant])
    else:
        assert wrong_sums(mutant) != []
