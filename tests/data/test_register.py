"""Files of one's own become datasets: read once, written down, prepared like all others; mistakes are told."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import yaml

from collpress.cli import main
from collpress.data import sidecar
from collpress.data.registry import load_registry

FIELD = np.random.Generator(np.random.Philox(9)).normal(280.0, 5.0, (2, 3, 4)).astype(np.float32)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with an empty registry, and files beside it."""
    checkout = tmp_path / "a café"
    (checkout / "config").mkdir(parents=True)
    (checkout / "config/datasets.yaml").write_text("schema: 1\ndatasets: {}\n", encoding="utf-8")
    monkeypatch.chdir(checkout)
    return checkout


def register(*arguments: object) -> int:
    return main(["dataset", "register", *map(str, arguments)])


def prepared(name: str) -> tuple[bytes, dict[str, Any]]:
    """The prepared values and the sidecar."""
    assert main(["dataset", "get", name]) == 0
    path = Path("results/data") / f"{name}.bin"
    return path.read_bytes(), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_a_raw_field_is_registered_and_prepared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.astype(">f4").tofile("wind.f32")
    options = ("--shape", "2,3,4", "--byteorder", "big", "--units", "K", "--licence", "mine", "--title", "Wind")
    assert register("mine/wind", "wind.f32", *options) == 0
    assert (
        "mine/wind: float32, 2 x 3 x 4, ranks send slices, 96 B; in config/datasets.d/mine.yaml"
        in capsys.readouterr().out
    )
    values, described = prepared("mine/wind")
    assert values == FIELD.astype("<f4").tobytes()
    assert described["source"] == {
        "kind": "local",
        "files": [{"path": "wind.f32", "bytes": 96, "sha256": hashlib.sha256(FIELD.astype(">f4")).hexdigest()}],
        "raw": {"byte_order": "big", "dtype": "float32"},
    }
    told = {key: described[key] for key in ("title", "units", "licence", "citation", "shape", "ranks", "native_dtype")}
    assert told == {
        "title": "Wind", "units": "K", "licence": "mine", "citation": "not told", "shape": [2, 3, 4],
        "ranks": "slices", "native_dtype": "float32",
    }  # fmt: skip


def test_a_path_outside_the_checkout_is_kept_whole(here: Path, tmp_path: Path) -> None:
    FIELD.tofile(tmp_path / "far.f32")
    assert register("mine/far", "../far.f32") == 0
    (entry,) = load_registry(Path("config/datasets.yaml")).values()
    assert entry.local is not None
    assert Path(entry.local.files[0].path).is_absolute()
    assert entry.shape == (24,)


def test_files_of_ranks_are_parts_in_the_order_of_their_numbers(here: Path) -> None:
    for rank in (2, 10, 9, 3, 4, 5, 6, 7, 8):
        np.save(f"grad-{rank}.npy", np.full((2, 2), rank, dtype=np.float32))
    assert register("mine/grad", "--per-rank-glob", "grad-{rank}.npy") == 0
    values, described = prepared("mine/grad")
    assert np.frombuffer(values, "<f4").reshape(9, 4)[:, 0].tolist() == list(range(2, 11))
    assert (described["ranks"], described["parts"], described["shape"]) == ("parts", 9, [9, 2, 2])
    listed = sorted(Path().glob("grad-*.npy"))
    assert [p.name for p in listed][:2] == ["grad-10.npy", "grad-2.npy"], "as a shell lists them"
    assert register("mine/again", *listed) == 0
    assert prepared("mine/again")[0] == values


def test_bfloat16_and_float16_are_told_by_their_native_dtype(here: Path) -> None:
    bits = (FIELD.view(np.uint32) >> 16).astype("<u2")
    bits.tofile("a.bf16")
    np.save("b.npy", FIELD.astype("f2"))
    np.save("c.npy", FIELD.astype("f8"))
    assert register("mine/a", "a.bf16", "--shape", "2x3x4", "--parts") == 0
    assert register("mine/b", "b.npy") == 0
    assert register("mine/c", "c.npy", "--convert", "float32") == 0
    values, described = prepared("mine/a")
    assert values == bits.tobytes()
    assert (described["dtype"], described["native_dtype"], described["bytes"]) == ("bfloat16", "bfloat16", 48)
    widened = (bits.astype(np.uint32) << 16).view(np.float32)
    assert (described["minimum"], described["maximum"]) == (widened.min(), widened.max())
    assert (described["ranks"], described["parts"]) == ("parts", 2)
    values, described = prepared("mine/b")
    assert values == FIELD.astype("f2").astype("<f4").tobytes()
    assert (described["dtype"], described["native_dtype"]) == ("float32", "float16")
    assert prepared("mine/c")[1]["native_dtype"] == "float64"
    assert list(load_registry(Path("config/datasets.yaml"))) == ["mine/a", "mine/b", "mine/c"]


def test_an_entry_tells_what_its_values_were_and_are(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("b.npy", FIELD.astype("f2"))
    assert register("mine/b", "b.npy") == 0
    home = Path("config/datasets.d/mine.yaml")
    right = home.read_text(encoding="utf-8")
    home.write_text(right.replace("native_dtype: float16", "native_dtype: float32"), encoding="utf-8")
    assert main(["dataset", "get", "mine/b"]) == 2
    assert "native_dtype should be float16, the registry says float32" in capsys.readouterr().err
    home.write_text(right.replace("dtype: float32", "dtype: bfloat16"), encoding="utf-8")
    assert main(["dataset", "get", "mine/b"]) == 2
    assert "dtype should be float32, the registry says bfloat16" in capsys.readouterr().err


def test_a_variable_of_a_netcdf_file(here: Path) -> None:
    with netCDF4.Dataset("run.nc", "w") as content:
        for name, size in zip("tyx", FIELD.shape, strict=True):
            content.createDimension(name, size)
        content.createVariable("T", "f4", tuple("tyx"), fill_value=np.float32(FIELD[0, 0, 0]))[...] = FIELD
    assert register("mine/t", "run.nc", "--variable", "T", "--keep-missing") == 0
    values, described = prepared("mine/t")
    assert values == FIELD.tobytes()
    assert described["missing"] == {"value": float(FIELD[0, 0, 0]), "count": 1, "policy": "keep"}


def test_a_second_entry_leaves_the_file_as_it_is(here: Path) -> None:
    FIELD.tofile("a.f32")
    assert register("mine/a", "a.f32") == 0
    home = Path("config/datasets.d/mine.yaml")
    commented = home.read_text(encoding="utf-8") + "    # a word of mine\n"
    home.write_text(commented, encoding="utf-8")
    assert register("mine/b", "a.f32", "--shape", "24") == 0
    assert home.read_text(encoding="utf-8").startswith(commented.rstrip())
    assert list(load_registry(Path("config/datasets.yaml"))) == ["mine/a", "mine/b"]


def _files(here: Path) -> None:
    FIELD.tofile("a.f32")
    FIELD.astype(">f4").tofile("swapped.f32")
    Path("odd.f32").write_bytes(bytes(13))
    np.save("wide.npy", FIELD.astype("f8"))
    np.save("words.npy", np.arange(4))
    np.save("nan.npy", np.array([1.0, np.nan], dtype="f4"))
    for name, n in (("r0", 3), ("r1", 3), ("r3", 3), ("s0", 3), ("s1", 4), ("t1", 2), ("t01", 2), ("u7", 2)):
        np.save(f"{name}.npy", np.ones(n, dtype=np.float32))
    np.savez("z.npz", a=FIELD)
    np.save("bits.npy", np.ones(4, dtype="u2"))
    np.save("none.npy", np.ones((3, 0), dtype="f4"))
    for name in ("bare", "a.tiff", "m0.f32"):
        FIELD.tofile(name)
    np.save("m1.npy", FIELD)


WRONG: list[tuple[list[str], str]] = [
    (["Mine", "a.f32"], '"Mine" cannot be an id'),
    (["mine/a", "gone.f32"], "gone.f32: there is no such file"),
    (["mine/a"], "which files?"),
    (["mine/a", "a.f32", "--shape", "5,5"], "the file has 96 bytes, 5 x 5 values of 4 bytes are 100"),
    (["mine/a", "odd.f32"], "13 bytes are no whole number of float32 values"),
    (["mine/a", "swapped.f32"], "the values are of all magnitudes; as big-endian they are not\n  fix: --byteorder big"),
    (["mine/a", "wide.npy"], "to have them rounded, register with --convert float32"),
    (["mine/a", "words.npy"], "the values are int64"),
    (["mine/a", "bits.npy"], "the values are uint16"),
    (["mine/a", "bits.npy"], "if they are bfloat16, register with --dtype bfloat16"),
    (["mine/a", "none.npy"], "none.npy: there is no value in it"),
    (["mine/a", "bare"], "the name bare has no suffix"),
    (["mine/a", "a.tiff"], "the suffix .tiff tells no format"),
    (["mine/a", "m0.f32", "m1.npy"], "the suffixes .f32, .npy are of several formats"),
    (["mine/a", "z.npz", "--key", ""], "--key: the name is empty\n  fix: say --key NAME"),
    (["mine/a", "z.npz", "--format", "npy"], "fix: --format npz --key NAME"),
    (["mine/a", "m1.npy", "--key", "w"], "a .npy file holds one array"),
    (["mine/a", "a.f32", "--title", "a\x1b[31mb"], "--title: there is a control character in it, U+001B"),
    (["mine/a", "a.f32", "--note", "a\nb"], "--note: there is a control character in it, U+000A"),
    (["mine/a", "a.f32", "--title", ""], "--title: it is empty"),
    (["mine/a", "a.f32", "--missing-value", "inf"], "--missing-value: NaN and infinite values count as missing"),
    (["mine/a", "a.f32", "--missing-value", "1e39"], "--missing-value: 1e+39 is beyond float32"),
    (["mine/a", "nan.npy"], "1 of 2 values are NaN or infinite"),
    (["mine/a", "wide.npy", "--shape", "2,3", "--convert", "float32"], "the shape is 2 x 3 x 4\n  allowed: 2 x 3"),
    (["mine/a", "a.f32", "--key", "w"], "a raw file holds one array"),
    (["mine/a", "z.npz"], "which array of the file?\n  fix: say --key NAME"),
    (["mine/a", "wide.npy", "--dtype", "float32"], "a .npy file says itself what its values are"),
    (["mine/a", "--per-rank-glob", "r{rank}.npy"], "of the ranks 0 to 3 these have no file: 2"),
    (["mine/a", "--per-rank-glob", "s{rank}.npy"], "s0.npy has the shape 3, s1.npy 4"),
    (["mine/a", "--per-rank-glob", "t{rank}.npy"], "rank 1 has two files, t01.npy and t1.npy"),
    (["mine/a", "--per-rank-glob", "u{rank}.npy"], "one file matches, u7.npy"),
    (["mine/a", "--per-rank-glob", "v{rank}.npy"], "no file matches"),
    (["mine/a", "--per-rank-glob", "v.npy"], "has not one {rank}"),
    (["mine/a", "a.f32", "z.npz"], "the name has no number that could be a rank"),
    (["mine/a", "r0.npy", "--format", "npz", "--key", "a"], "cannot read it as .npz"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_a_mistake_is_told_and_nothing_is_written(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    _files(here)
    assert register(*arguments) == 2
    assert message in capsys.readouterr().err
    assert not Path("config/datasets.d").exists()


def test_a_name_is_given_once_in_all_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    assert register("mine/a", "a.f32") == 0
    assert register("mine/a", "a.f32") == 2
    assert '"mine/a" is registered already' in capsys.readouterr().err
    home = Path("config/datasets.d/mine.yaml")
    home.with_name("other.yaml").write_text(home.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["dataset", "list"]) == 2
    said = capsys.readouterr().err
    assert "config/datasets.d/other.yaml:4: datasets.mine/a" in said
    assert "stands in config/datasets.d/mine.yaml:4: datasets.mine/a too" in said


def test_a_file_that_changed_or_went_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    assert register("mine/a", "a.f32") == 0
    (2 * FIELD).tofile("a.f32")
    assert main(["dataset", "get", "mine/a"]) == 2
    assert "the file has changed since it was registered" in capsys.readouterr().err
    Path("a.f32").unlink()
    assert main(["dataset", "get", "mine/a"]) == 2
    assert "a.f32: mine/a: the file is gone" in capsys.readouterr().err
    assert not list(Path("results").rglob("*.bin"))


def test_a_file_that_cannot_be_added_to_stays_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    home = Path("config/datasets.d/mine.yaml")
    home.parent.mkdir()
    home.write_text("datasets: {}\nschema: 1\n", encoding="utf-8")
    assert register("mine/a", "a.f32") == 2
    assert "mine.yaml" in capsys.readouterr().err
    assert home.read_text(encoding="utf-8") == "datasets: {}\nschema: 1\n"


@pytest.mark.parametrize("text", ["{schema: 1, datasets: {}}\n", "schema: 1\ndatasets: {}\n"])
def test_a_file_in_flow_style_is_told_as_such(here: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    home = Path("config/datasets.d/mine.yaml")
    home.parent.mkdir()
    home.write_text(text, encoding="utf-8")
    assert register("mine/a", "a.f32") == 2
    assert "mine.yaml: this file is written in YAML's flow style, {...}" in capsys.readouterr().err
    assert home.read_text(encoding="utf-8") == text


def test_what_stands_for_no_data_in_an_entry_is_a_float32(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    assert register("mine/a", "a.f32", "--missing-value=-3e38") == 0
    home = Path("config/datasets.d/mine.yaml")
    home.write_text(home.read_text(encoding="utf-8").replace("-3.0e+38", "-4.0e+38"), encoding="utf-8")
    assert main(["dataset", "list"]) == 2
    assert "datasets.mine/a.local.raw.missing: -4e+38 is beyond float32" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_a_fill_value_beyond_float32_stands_for_nothing(here: Path) -> None:
    with netCDF4.Dataset("a.nc", "w") as content:
        content.createDimension("x", 24)
        variable = content.createVariable("T", "f8", ("x",))
        variable.missing_value = 1e40
        variable[:] = FIELD.ravel()
    assert register("mine/a", "a.nc", "--variable", "T", "--convert", "float32") == 0
    assert prepared("mine/a")[1]["missing"] is None


def test_a_private_dataset_is_known_by_its_checksum_only(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("secret-reactor.f32")
    words = ("--title", "secret words", "--citation", "secret", "--licence", "secret", "--note", "secret")
    assert register("lab/secret", "secret-reactor.f32", "--private", *words) == 0
    entry = load_registry(Path("config/datasets.yaml"))["lab/secret"]
    public = f"private-{hashlib.sha256(FIELD).hexdigest()[:8]}"
    assert entry.public_id == public
    assert f"told as {public}" in capsys.readouterr().out
    for name in ("lab/secret", public):
        assert main(["--log", "results/get.log", "dataset", "get", name]) == 0
    made = [path for path in Path("results").rglob("*") if path.is_file()]
    assert sorted(path.name for path in made) == ["get.log", f"{public}.bin", f"{public}.json"]
    assert not [path for path in made if b"secret" in path.read_bytes() or "secret" in str(path)]
    described = sidecar.read(Path(f"results/data/{public}.json"))
    assert (described.id, described.source) == (public, {"kind": "private"})
    assert main(["dataset", "verify", public]) == 0


def test_two_private_datasets_cannot_be_told_as_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIELD.tofile("a.f32")
    assert register("lab/a", "a.f32", "--private") == 0
    home = Path("config/datasets.d/lab.yaml")
    entry = yaml.safe_load(home.read_text(encoding="utf-8"))["datasets"]["lab/a"]
    document = {"schema": 1, "datasets": {"lab/b": entry}}
    home.with_name("z.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    assert main(["dataset", "list"]) == 2
    assert "its values begin like those of lab/a, which is private too" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["1e-3", "08", "12:30", "true", "~", "- x", "a: b", "'", "é "])
def test_what_is_registered_can_be_read_again(here: Path, word: str) -> None:
    np.save("a.npy", FIELD)
    assert register("mine/a", "a.npy", "--units", word, "--title", word) == 0
    (entry,) = load_registry(Path("config/datasets.yaml")).values()
    assert (entry.units, entry.title) == (word, word)


def test_an_entry_that_could_not_be_read_again_is_not_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", FIELD)
    assert register("mine/a", "a.npy", "--missing-value", "nan") == 2
    assert "NaN and infinite values count as missing anyhow" in capsys.readouterr().err
    assert register("mine/a", "a.npy", "--private") == 0
    assert register("mine/b", "a.npy", "--private") == 2
    assert "its values begin like those of mine/a" in capsys.readouterr().err
    assert list(load_registry(Path("config/datasets.yaml"))) == ["mine/a"]


def test_a_private_dataset_has_a_card_and_is_not_cited(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", np.tile(FIELD, (8, 8, 8)))
    assert register("mine/secret", "a.npy", "--private") == 0
    assert main(["dataset", "get", "mine/secret"]) == 0
    assert main(["card", "mine/secret"]) == 0
    (card,) = Path("results/cards").glob("private-*.json")
    assert "secret" not in card.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["dataset", "cite", "mine/secret"]) == 0
    told = capsys.readouterr()
    assert "secret" not in told.out
    assert "left out: 1 private datasets" in told.err


def test_a_stash_code_is_a_number(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.pp").write_bytes(b"x")
    assert register("mine/a", "a.pp", "--key", "air_temp") == 2
    assert '"air_temp" is no STASH code' in capsys.readouterr().err
