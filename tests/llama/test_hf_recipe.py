"""The recipe for large models: the same files as collpress's own captures, from torch and transformers.

Needs an interpreter that has both, named in COLLPRESS_TORCH; the messages of one that has neither are checked always.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from collpress.data.bfloat16 import widened
from collpress.data.sidecar import read
from collpress.layout import ROOT

SCRIPT = ROOT / "workflow" / "scripts" / "capture_llama_hf.py"
TINY = """
import sys, torch, transformers, tokenizers
torch.manual_seed(1)
sizes = dict(hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2)
config = transformers.LlamaConfig(vocab_size=300, max_position_embeddings=64, tie_word_embeddings=False, **sizes)
transformers.LlamaForCausalLM(config).save_pretrained(sys.argv[1])
bpe = tokenizers.ByteLevelBPETokenizer()
bpe.train_from_iterator([open(sys.argv[2], encoding="utf-8").read()], vocab_size=300)
transformers.PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer).save_pretrained(sys.argv[1])
"""
TEXT = "The tide turns twice a day, and the harbour empties and fills like a lung. " * 3


def run(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("HF_TOKEN", None)
    command = [python, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, stdin=subprocess.DEVNULL)


def test_without_torch_it_says_what_to_install(tmp_path: Path) -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        done = run(sys.executable, "--out", str(tmp_path))
        assert done.returncode == 2
        assert done.stderr == "capture_llama_hf: torch is not installed\n  fix: pip install -r envs/hf.txt\n"
        assert list(tmp_path.iterdir()) == []
    else:
        pytest.skip("this interpreter has torch")


@pytest.fixture(scope="module")
def torch_python() -> str:
    python = os.environ.get("COLLPRESS_TORCH", "")
    if not python:
        pytest.skip("COLLPRESS_TORCH names no interpreter that has torch and transformers")
    return python


@pytest.fixture(scope="module")
def tiny(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tiny")
    (directory / "text.txt").write_text(TEXT, encoding="utf-8")
    subprocess.run([torch_python, "-c", TINY, str(directory), str(directory / "text.txt")], check=True)
    return directory


def arguments(tiny: Path, out: Path, *more: str) -> list[str]:
    own = [
        "--model",
        str(tiny),
        "--text",
        str(tiny / "text.txt"),
        "--out",
        str(out),
        "--name",
        "tiny",
        "--tokens",
        "12",
    ]
    return [*own, "--ranks", "3", "--layers", "0", "2", "--gradients", "model.layers.2.*", "*.0.mlp.up*", *more]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_it_writes_every_product_with_its_sidecar(torch_python: str, tiny: Path, tmp_path: Path, dtype: str) -> None:
    done = run(torch_python, *arguments(tiny, tmp_path, "--dtype", dtype))
    assert done.returncode == 0, done.stderr
    products = {path.stem: path for path in tmp_path.glob("*.bin")}
    assert len(products) == 9
    assert len(done.stdout.splitlines()) == 9
    got = {}
    for name, path in products.items():
        described = read(path.with_suffix(".json"))
        assert described.id == f"tiny/{name}"
        assert (described.ranks, described.parts, described.native_dtype) == ("parts", 3, dtype)
        assert described.bytes == path.stat().st_size
        stored = np.fromfile(path, "<u2" if described.dtype == "bfloat16" else "<f4").reshape(described.shape)
        got[name] = widened(stored) if described.dtype == "bfloat16" else stored
        assert described.minimum == got[name].min()
        assert described.maximum == got[name].max()
        assert np.count_nonzero(got[name]) > 0.9 * got[name].size
        assert len({part.tobytes() for part in got[name]}) == 3
    layer = 2 * 48 * 48 + 2 * 16 * 48 + 3 * 48 * 80 + 2 * 48
    assert got["gradients"].shape == (3, layer + 80 * 48)
    assert got["keys"].shape == got["values"].shape == (3, 3, 2, 12, 8)
    for token in range(12):
        assert np.array_equal(got["decode"][:, token, :, 0], got["keys"][:, :, :, token])
        assert np.array_equal(got["decode"][:, token, :, 1], got["values"][:, :, :, token])
    assert got["residual"].shape == got["residual-gradient"].shape == (3, 2, 12, 48)
    assert got["attention-partial"].shape == got["mlp-partial"].shape == (3, 2, 12, 48)
    assert got["sequence-gradient"].shape == (3, 2, 4, 48)


def test_partial_sums_and_chunks_are_parts_of_one_whole(torch_python: str, tiny: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for out, ranks in ((whole, "1"), (parts, "3")):
        done = run(torch_python, *arguments(tiny, out, "--dtype", "float32", "--ranks", ranks))
        assert done.returncode == 0, done.stderr
    for name in ("attention-partial", "mlp-partial"):
        one, three = (np.fromfile(out / f"{name}.bin", "<f4") for out in (whole, parts))
        np.testing.assert_allclose(three.reshape(3, -1).sum(axis=0), one, atol=1e-5)
    one, three = (np.fromfile(out / "sequence-gradient.bin", "<f4") for out in (whole, parts))
    joined = three.reshape(3, 2, 4, 48).swapaxes(0, 1).reshape(2, 12, 48)
    np.testing.assert_allclose(joined, one.reshape(2, 12, 48), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--tokens", "4000"], "3 ranks with 4000 each need 12000"),
        (["--gradients", "model.layers.9.*"], 'no parameter matches "model.layers.9.*"'),
        (["--layers", "3"], "allowed: 0 to 2"),
        (["--model", "meta-llama/Meta-Llama-3-8B"], "cannot load the model"),
    ],
)
def test_what_it_cannot_do_is_told_and_leaves_nothing(
    torch_python: str, tiny: Path, tmp_path: Path, more: list[str], told: str
) -> None:
    done = run(torch_python, *arguments(tiny, tmp_path), *more)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_gated_model_without_a_token_is_told_what_to_do(torch_python: str) -> None:
    code = f"""
import json, sys
sys.path[:0] = [{str(SCRIPT.parent)!r}]
import capture_llama_hf as recipe
gated = OSError("You are trying to access a gated repo.\\nMake sure to have access. 401 Client Error.")
print(json.dumps(str(recipe._unavailable("meta-llama/Meta-Llama-3-8B", gated))))
"""
    environment = {key: value for key, value in os.environ.items() if key != "HF_TOKEN"}
    done = subprocess.run([torch_python, "-c", code], capture_output=True, encoding="utf-8", env=environment)
    said = json.loads(done.stdout)
    assert said.startswith(
        "meta-llama/Meta-Llama-3-8B: the model is gated, and HF_TOKEN is not set\n  fix: accept its licence"
    )
