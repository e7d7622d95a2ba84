"""The real model: what the quick capture is known by, faults that its fingerprint shows, and what torch says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collpress.data import fingerprint
from collpress.data.bfloat16 import narrowed, widened
from collpress.data.llama import gguf, operations
from collpress.data.llama.forward import layers
from collpress.data.llama.model import Model, load
from collpress.data.llama.tokenizer import Tokenizer
from collpress.data.prepare import stored_values, verify
from collpress.data.registry import Entry, load_registry
from collpress.errors import CollpressError
from collpress.layout import ROOT

REFERENCE = ROOT / "tests" / "reference" / "results.json"
KEYS, GRADIENTS = "smollm2-kv/quick-k", "smollm2-grad/quick"
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def registry() -> dict[str, Entry]:
    return load_registry(ROOT / "config" / "datasets.yaml")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    """What compare_with_torch.py found."""
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def file(results: Path, registry: dict[str, Entry]) -> gguf.Gguf:
    capture = registry[KEYS].capture
    assert capture is not None
    return gguf.read(results / "cache" / capture.model.member_file)


@pytest.fixture(scope="module")
def model(file: gguf.Gguf) -> Model:
    return load(file)


@pytest.fixture(scope="module")
def text(file: gguf.Gguf) -> list[int]:
    return Tokenizer(file).encode((ROOT / "resources/texts/weather-and-machines.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("dataset", [KEYS, GRADIENTS])
def test_the_quick_capture_has_the_fingerprint_that_is_stored(
    results: Path, registry: dict[str, Entry], dataset: str
) -> None:
    described = verify(registry[dataset], results)
    assert fingerprint.place(dataset).is_file()
    assert (described.ranks, described.parts) == ("parts", 2)
    assert described.missing is None
    assert described.unique_bytes == described.bytes


def test_every_capture_has_a_fingerprint_of_its_shape(registry: dict[str, Entry]) -> None:
    for dataset, entry in registry.items():
        if entry.capture is not None:
            stored = json.loads(fingerprint.place(dataset).read_text(encoding="utf-8"))
            assert tuple(stored["shape"]) == entry.shape
            assert len(stored["parts"]) == entry.parts == entry.capture.ranks


def test_the_comparison_with_torch_was_of_this_model_and_this_text_and_is_within_its_bounds(
    reference: dict[str, Any], registry: dict[str, Entry]
) -> None:
    for entry in registry.values():
        if entry.capture is not None:
            assert reference["model_sha256"] == entry.capture.model.member_sha256
            assert reference["text_sha256"] == entry.capture.text.sha256
    assert reference["weights_that_differ"] == []
    assert reference["tokens_agree"] is True
    assert reference["passes"]
    for one in reference["passes"].values():
        ours = one["ours"]
        assert max(ours["keys"], ours["values"], ours["residual"]) < 1e-5
        assert max(ours["gradients"], ours["gradients_by_norm"]) < 2e-3
        assert ours["loss"] < 1e-5


@pytest.mark.parametrize("dataset", [KEYS, GRADIENTS])
def test_torchs_own_tensors_have_the_stored_fingerprint(reference: dict[str, Any], dataset: str) -> None:
    stored = json.loads(fingerprint.place(dataset).read_text(encoding="utf-8"))
    assert fingerprint.compare(stored, reference["fingerprints_of_torch"][dataset]) == ""


@pytest.mark.parametrize("fault", ["none", "no rotation", "another head", "paired rotation"])
def test_a_fault_of_the_model_shows_in_the_fingerprint_of_its_keys(
    model: Model,
    text: list[int],
    results: Path,
    registry: dict[str, Entry],
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = "collpress.data.llama.forward."
    if fault == "no rotation":
        monkeypatch.setattr(place + "rotated", lambda x, cosine, sine: x)
    elif fault == "paired rotation":  # as llama.cpp stores its rows, which would have to be permuted then
        pairs = np.arange(64).reshape(2, 32).T.ravel()

        def wrong(x: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
            return operations.rotated(x[..., np.argsort(pairs)], cosine, sine)[..., pairs]

        monkeypatch.setattr(place + "rotated", wrong)
    elif fault == "another head":  # query heads 0, 3, 6 share the first key head, not 0, 1, 2
        order = [0, 3, 6, 1, 4, 7, 2, 5, 8]

        def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            result, weights = operations.attention(q[order], k, v)
            return result[np.argsort(order)], weights

        monkeypatch.setattr(place + "attention", attention)
    captured = np.stack([layer.k for layer in layers(model, text[:128])])
    stored = json.loads(fingerprint.place(KEYS).read_text(encoding="utf-8"))
    first = {**stored, "shape": [1, *stored["shape"][1:]], "parts": stored["parts"][:1]}
    difference = fingerprint.compare(first, fingerprint.fingerprint(narrowed(captured)[None]))
    assert (difference == "") == (fault == "none")


def test_changed_values_change_the_fingerprint(results: Path, registry: dict[str, Entry]) -> None:
    gradients = np.array(stored_values(registry[GRADIENTS], results))
    stored = fingerprint.fingerprint(gradients)
    assert fingerprint.compare(stored, fingerprint.fingerprint(gradients * np.float32(1 + 1e-6))) == ""
    for name, changed in {
        "a hundredth larger": gradients * np.float32(1.01),
        "two ranks the same": np.stack([gradients[0], gradients[0]]),
        "another order": gradients[:, ::-1],
        "other signs": -gradients,
        "short": gradients[:, :-1],
    }.items():
        assert fingerprint.compare(stored, fingerprint.fingerprint(changed)) != "", name


def test_a_fingerprint_that_was_damaged_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    path = fingerprint.place("a/b")
    path.parent.mkdir(parents=True)
    path.write_text('{"shape": [1, 300], "parts": [{}]}', encoding="utf-8")
    with pytest.raises(CollpressError, match=r"b\.json: no fingerprint, version 1"):
        fingerprint.check("a/b", np.zeros((1, 300), np.float32) + 1)


def test_the_gradients_of_two_texts_are_alike_but_not_the_same(results: Path, registry: dict[str, Entry]) -> None:
    first, second = stored_values(registry[GRADIENTS], results).astype(np.float64)
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert 0.02 < cosine < 0.6


def exponent_entropy(values: np.ndarray) -> float:
    """Bits of the exponent of bfloat16, of 8."""
    counts = np.bincount((values.view(np.uint32).ravel() >> 23) & 255)
    share = counts[counts > 0] / counts.sum()
    return float(-np.sum(share * np.log2(share)))


@pytest.mark.parametrize("layer", [0, 15])
def test_keys_have_the_outlier_channels_and_exponents_of_an_earlier_capture_by_other_means(
    results: Path, registry: dict[str, Entry], layer: int
) -> None:
    path = SHARED / f"smollm2_kv_L{layer}_K_3x256x64.bf16"
    if not path.is_file():
        pytest.skip(f"{path.name} is not here")
    earlier = widened(np.fromfile(path, "<u2").reshape(3, 256, 64))
    ours = widened(np.array(stored_values(registry[KEYS], results)[:, layer]))
    for head in range(3):
        largest = [set(np.abs(k).mean(axis=0).argsort()[-4:]) for k in (earlier[head], ours[0, head], ours[1, head])]
        assert len(largest[0] & largest[1]) >= 3
        assert len(largest[0] & largest[2]) >= 3
    assert exponent_entropy(ours) == pytest.approx(exponent_entropy(earlier), abs=0.15)
