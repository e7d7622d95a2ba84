"""The registry says what each dataset is; its mistakes are reported with file, line and field."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade import World

from collpress.data.generators import names
from collpress.data.obtain import part_sources
from collpress.data.registry import find, load_registry
from collpress.errors import CollpressError

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "config" / "datasets.yaml"


ISABEL = {"u", "v", "w", "p", "tc", "cloud", "precip", "qcloud", "qgraup", "qice", "qrain", "qsnow", "qvapor"}
LOGARITHMS = {"cloud", "precip", "qcloud", "qgraup", "qice", "qrain", "qsnow"}
SMOLLM2 = {"grad/quick", "grad/subset", "grad/full", "kv/quick-k", "kv/k", "kv/v", "kv/decode"}
SMOLLM2 |= {"act/residual", "act/attn-partial", "act/mlp-partial"}
KATRINA = {"u", "v", "w", "p", "t", "qvapor", "qcloud", "qrain"}


def test_the_shipped_registry_has_every_field_and_every_generator() -> None:
    registry = load_registry(SHIPPED)
    expected = {"colpex/theta", "colpex/pressure"} | {f"synthetic/{name}" for name in names()}
    expected |= {f"isabel/{name}" for name in ISABEL | {f"{name}-log10" for name in LOGARITHMS}}
    expected |= {f"{group}/{name}" for group in ("isabel-series", "isabel-ncar") for name in ISABEL}
    expected |= {f"katrina/{name}" for name in KATRINA}
    expected |= {f"smollm2-{name}" for name in SMOLLM2}
    assert expected <= set(registry)
    others = {d.partition("/")[0] for d in set(registry) - expected}
    assert others >= {"nyx", "cesm", "hacc", "llama3-8b", "ccbench", "uk-hires", "minilm"}
    assert all(entry.id == dataset for dataset, entry in registry.items())
    assert {e.pypi.pp.stash for e in registry.values() if e.pypi and e.pypi.pp} == {4, 408}


def test_what_was_quantised_before_says_so() -> None:
    entry = load_registry(SHIPPED)["uk-hires/theta"]
    assert "quantised" in entry.title
    assert str(entry.note).startswith("Pre-quantised: ")


def test_each_shipped_entry_has_its_own_checksum_and_a_licence_whose_file_exists() -> None:
    registry = load_registry(SHIPPED)
    pinned = [e.sha256 for e in registry.values() if e.sha256 is not None]
    assert len(set(pinned)) == len(pinned)
    for entry in registry.values():
        for name in re.findall(r"resources/\S+\.md", entry.licence):
            assert f"`{entry.id}`" in (ROOT / name).read_text(encoding="utf-8")
        assert entry.synthetic or "resources/licences/" in entry.licence


def test_isabel_is_fetched_field_by_field_from_a_pinned_revision_and_says_whom_to_thank() -> None:
    fields = {d.partition("/")[2]: e for d, e in load_registry(SHIPPED).items() if d.startswith("isabel/")}
    assert len({e.url.sha256 for e in fields.values() if e.url}) == 20
    for name, entry in fields.items():
        assert entry.url is not None
        stem, _, log10 = name.partition("-")
        assert entry.url.file == f"{stem.upper()}f48.{'log10.' if log10 else ''}bin.f32"
        assert [a.rpartition("/")[2] for a in entry.url.addresses] == [entry.url.file]
        assert all(re.search("/resolve/[0-9a-f]{40}/100x500x500/", a) for a in entry.url.addresses)
        assert (entry.url.bytes, entry.shape, entry.sha256) == (100_000_000, (100, 500, 500), entry.url.sha256)
        assert "redistribution not granted" in entry.licence
        assert "courtesy of NCAR" in str(entry.acknowledgement)
        assert "over the land" in str(entry.note) or "land is set to 0" in str(entry.note)


def test_isabels_fields_also_lie_in_the_whole_archive_with_the_same_checksum() -> None:
    fields = [e for d, e in load_registry(SHIPPED).items() if d.startswith("isabel/")]
    for entry in fields:
        assert entry.url is not None
        assert entry.otherwise is not None
        assert entry.otherwise.member == f"100x500x500/{entry.url.file}"
        assert (entry.otherwise.member_sha256, entry.otherwise.member_bytes) == (entry.url.sha256, entry.url.bytes)
        assert (entry.otherwise.bytes, entry.otherwise.md5) == (1_253_837_293, "8d53f6ddb5577d896c9e6b5bcdbf16d0")
    assert len({e.otherwise.file for e in fields if e.otherwise}) == 1


def test_isabels_series_has_a_pinned_file_for_each_hour() -> None:
    fields = {d.partition("/")[2]: e for d, e in load_registry(SHIPPED).items() if d.startswith("isabel-series/")}
    seen = set()
    for name, entry in fields.items():
        assert entry.url is not None
        assert (entry.shape, entry.ranks, entry.sha256) == ((48, 100, 500, 500), "parts", None)
        hours = part_sources(entry.url)
        assert [h.file for h in hours] == [f"{name.upper()}f{hour:02d}.f32" for hour in range(1, 49)]
        assert all(h.addresses[0].endswith(f"/{h.file}") and h.bytes == 100_000_000 for h in hours)
        seen |= {h.known_sha256 for h in hours}
    assert len(seen) == 13 * 48


def test_ncars_isabel_says_that_nobody_publishes_its_checksum_and_how_it_lies() -> None:
    for dataset, entry in load_registry(SHIPPED).items():
        if not dataset.startswith("isabel-ncar/"):
            continue
        assert entry.url is not None
        assert entry.url.raw is not None
        assert (entry.url.sha256, entry.sha256, entry.missing) == ("unpublished", None, "zero")
        assert (entry.url.archive, entry.url.raw.byte_order, entry.url.raw.missing) == ("gz", "big", 1.0e35)
        assert entry.range is not None
        assert len(entry.url.addresses) == 2


def test_what_only_a_person_can_bring_says_who_has_it() -> None:
    registry = load_registry(SHIPPED)
    manual = {d: e.manual for d, e in registry.items() if e.manual is not None}
    assert {d.partition("/")[0] for d in manual} == {"llama3-8b", "ccbench"}
    assert len({m.file for m in manual.values()}) == len(manual) == 7
    assert all(m.page and m.sha256 == "unpublished" for m in manual.values())


def test_samples_of_sdrbench_are_pinned_files_of_pinned_revisions() -> None:
    samples = [e for d, e in load_registry(SHIPPED).items() if d.partition("/")[0] in {"nyx", "cesm", "hacc"}]
    assert len(samples) == 8 + 10 + 6
    for entry in samples:
        assert entry.url is not None
        assert entry.url.sha256 == entry.sha256
        assert entry.url.bytes == entry.bytes
        assert re.search("/resolve/[0-9a-f]{40}/", entry.url.addresses[0])


def test_katrina_has_two_pinned_mirrors_of_one_file() -> None:
    fields = [e for d, e in load_registry(SHIPPED).items() if d.startswith("katrina/")]
    assert len({e.url.sha256 for e in fields if e.url}) == 1
    for entry in fields:
        assert entry.url is not None
        assert entry.url.netcdf is not None
        assert entry.url.netcdf.variable.lower() == entry.id.partition("/")[2]
        assert len(entry.url.addresses) == 2
        assert all(re.search("/[0-9a-f]{40}/", address) for address in entry.url.addresses)


def test_what_is_synthetic_says_so_in_its_id_and_the_vortex_in_its_title() -> None:
    for dataset, entry in load_registry(SHIPPED).items():
        assert entry.synthetic == dataset.startswith("synthetic/")
        if "vortex" in dataset:
            assert "synthetic stand-in for Hurricane ISABEL, made by collpress, not a simulation" in entry.title


def test_captures_are_named_after_their_model_and_share_one_pass_each() -> None:
    captures = [e for e in load_registry(SHIPPED).values() if e.capture is not None]
    passes = set()
    for entry in captures:
        assert entry.capture is not None
        assert entry.id.startswith("smollm2-")
        assert "llama" not in f"{entry.id} {entry.title}".lower()
        assert (entry.ranks, entry.parts, entry.sha256) == ("parts", entry.capture.ranks, None)
        assert (entry.dtype == "bfloat16") == entry.id.startswith("smollm2-kv/")
        passes.add((entry.capture.tokens, entry.capture.ranks, entry.capture.layers, entry.capture.gradients))
    assert len(passes) == 3


def _add_capture(**change: Any) -> Callable[[dict[str, Any]], Any]:
    """A document with one more entry, a capture that is right but for the changes."""

    def changed(document: dict[str, Any]) -> None:
        entry = {**document["datasets"]["tiny/theta"], "ranks": "parts"}
        wheel = {key: value for key, value in entry.pop("pypi").items() if key != "pp"}
        del entry["sha256"]
        capture: dict[str, Any] = {
            "model": {**wheel, "name": "tiny", "weights_sha256": "1" * 64},
            "tokens": 8,
            "ranks": 2,
        }
        capture |= {"text": {"file": "a.txt", "sha256": "2" * 64}, "what": "keys", **change.pop("capture", {})}
        document["datasets"]["tiny/keys"] = {**entry, "capture": capture, **change}

    return changed


def test_a_capture_has_the_pinned_model_as_its_file(world: World) -> None:
    _add_capture()(world.document)
    world.rewrite()
    entry = load_registry(world.registry)["tiny/keys"]
    assert entry.fetched is not None
    assert entry.fetched.file == world.document["datasets"]["tiny/theta"]["pypi"]["file"]
    assert not entry.synthetic


def test_it_is_loaded_without_numpy_so_that_a_workflow_parses_quickly() -> None:
    code = (
        "import sys; from pathlib import Path; from collpress.data.registry import load_registry\n"
        f"load_registry(Path({str(SHIPPED)!r})); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT / "workflow").returncode == 0


def test_an_unknown_id_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(
        CollpressError, match=r'unknown dataset "colpex/teta"(?s:.*)did you mean "colpex/theta"'
    ) as caught:
        find(load_registry(SHIPPED), "colpex/teta", SHIPPED)
    assert str(SHIPPED) in str(caught.value)


FORBIDDEN = [
    "http://example.invalid/a",
    "http://127.0.0.1.example.invalid/a",
    "http://127.0.0.1@example.invalid/a",
    "ftp://example.invalid/a",
    "file:///etc/passwd",
    "example.invalid/a",
    "https://",
    "https:///etc/passwd",
    "https://me:secret@example.invalid/a",
    "https://example.invalid:port/a",
    "https://example.invalid/a b",
    "https://example.invalid/\na",
    "https://example.invalid/a#b",
]


def _add_url(**change: Any) -> Callable[[dict[str, Any]], Any]:
    """A document with one more entry, right but for the changes to its url."""

    def changed(document: dict[str, Any]) -> None:
        url: dict[str, Any] = {"file": "wind.f32", "bytes": 96, "sha256": "1" * 64, "raw": {"byte_order": "big"}}
        url |= {"addresses": ["https://example.invalid/{file}"], **change}
        entry = {**document["datasets"]["tiny/theta"], "shape": [4, 6], "url": {k: v for k, v in url.items() if v}}
        del entry["pypi"]
        document["datasets"]["tiny/wind"] = entry

    return changed


def test_an_address_may_leave_the_files_name_to_the_registry(world: World) -> None:
    _add_url()(world.document)
    world.rewrite()
    url = load_registry(world.registry)["tiny/wind"].url
    assert url is not None
    assert url.addresses == ("https://example.invalid/wind.f32",)


def _entry(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda document: change(document["datasets"]["tiny/theta"])


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        pytest.param(
            _entry(lambda e: e.update(titel="x")), "tiny/theta.titel", 'did you mean "title"', id="unknown-key"
        ),
        pytest.param(
            _entry(lambda e: e["pypi"].update(sha265="x")),
            "tiny/theta.pypi.sha265",
            'did you mean "sha256"',
            id="unknown-inner-key",
        ),
        pytest.param(_entry(lambda e: e.pop("sha256")), "tiny/theta", '"sha256" is missing', id="no-checksum"),
        pytest.param(_entry(lambda e: e.update(sha256="abc")), "tiny/theta.sha256", "pattern", id="no-sha256"),
        pytest.param(
            _entry(lambda e: e.update(shape=[2, 0])), "tiny/theta.shape", "greater than or equal to 1", id="empty-shape"
        ),
        pytest.param(_entry(lambda e: e.update(shape=[])), "tiny/theta.shape", "at least 1", id="no-shape"),
        pytest.param(_entry(lambda e: e.update(dtype="float16")), "tiny/theta.dtype", "float32", id="dtype"),
        pytest.param(
            _entry(lambda e: e.pop("pypi")),
            "tiny/theta",
            "one of pypi, url, manual, generator, capture and local",
            id="no-source",
        ),
        pytest.param(
            _entry(lambda e: e["pypi"].update(member="../../etc/passwd")), "pypi.member", "without ..", id="traversal"
        ),
        pytest.param(
            _entry(lambda e: e["pypi"].update(member="/etc/passwd")), "pypi.member", "relative path", id="absolute"
        ),
        pytest.param(_entry(lambda e: e["pypi"].update(file="../x.whl")), "pypi.file", "pattern", id="file-outside"),
        pytest.param(
            lambda d: d["datasets"]["tiny/normal"]["generator"].update(name="nromal"),
            "tiny/normal.generator.name",
            'did you mean "normal"',
            id="generator",
        ),
        pytest.param(
            lambda d: d["datasets"]["tiny/normal"]["generator"].update(seed=-1),
            "tiny/normal.generator.seed",
            "greater than",
            id="seed",
        ),
        pytest.param(
            lambda d: d["datasets"].update(Tiny=d["datasets"]["tiny/normal"]),
            "datasets.Tiny",
            "cannot be an id",
            id="id",
        ),
        *(
            pytest.param(
                _add_url(addresses=["https://example.invalid/a", address]),
                "tiny/wind.url.addresses[1]",
                "allowed: https://",
                id=f"address-{position}",
            )
            for position, address in enumerate(FORBIDDEN)
        ),
        pytest.param(_add_url(addresses=[]), "tiny/wind.url", '"addresses" is missing', id="no-address"),
        pytest.param(_add_url(file="../wind.f32"), "tiny/wind.url.file", "pattern", id="url-file-outside"),
        pytest.param(_add_url(file=".wind.lock"), "tiny/wind.url.file", "pattern", id="url-file-hidden"),
        pytest.param(_add_url(raw=None), "tiny/wind.url", "give one of raw, netcdf, pp, npy", id="no-format"),
        pytest.param(
            _add_url(netcdf={"variable": "U"}), "tiny/wind.url", "give one of raw, netcdf, pp, npy", id="two-formats"
        ),
        pytest.param(
            _add_url(raw={"byte_order": "litle"}), "url.raw.byte_order", 'did you mean "little"', id="byte-order"
        ),
        pytest.param(_add_url(bytes=95), "tiny/wind", "this shape has 96 bytes, the source says 95", id="raw-bytes"),
        pytest.param(
            _add_url(file="tiny_fields-1.0-py3-none-any.whl"),
            "tiny/wind.url.file",
            "the name of another file in tiny/theta",
            id="two-files-of-one-name",
        ),
        pytest.param(_add_capture(sha256="3" * 64), "tiny/keys", "a capture has no sha256", id="capture-sha256"),
        pytest.param(
            _add_capture(capture={"what": "keyz"}), "tiny/keys.capture.what", 'did you mean "keys"', id="capture-what"
        ),
        pytest.param(
            _add_capture(capture={"what": "gradients"}), "tiny/keys.capture", "names no tensor", id="capture-nothing"
        ),
        pytest.param(
            _add_capture(capture={"text": {"file": "../a", "sha256": "2" * 64}}),
            "capture.text.file",
            "without ..",
            id="text",
        ),
        pytest.param(_add_capture(capture={"tokens": 1}), "tiny/keys.capture.tokens", "equal to 2", id="tokens"),
        pytest.param(lambda d: d.update(schema=2), "schema", "1", id="schema"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_field(
    world: World, change: Callable[[dict[str, Any]], Any], where: str, message: str
) -> None:
    change(world.document)
    world.rewrite()
    with pytest.raises(CollpressError) as caught:
        load_registry(world.registry)
    assert re.search(re.escape(str(world.registry)) + r":\d+: .*" + re.escape(where), str(caught.value))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_add_url(addresses=["https://a.invalid/b", 3]), 'addresses[1]: this must be text; it is "3"'),
        (_add_url(addresses=["ftp://a.invalid/b"]), "addresses[0]: this address may not be asked"),
        (_add_url(bytes=True), "url.bytes: this must be a whole number; it is true"),
        (_add_url(bytes="96"), 'url.bytes: this must be a whole number; it is "96"'),
        (_entry(lambda e: e.update(shape=[True])), "shape[0]: this must be a whole number; it is true"),
        (_entry(lambda e: e.update(shape="4x4")), 'shape: this must be a list; it is "4x4"'),
        (_entry(lambda e: e["pypi"]["pp"].update(stash=True)), "pp.stash: this must be a whole number; it is true"),
        (
            lambda d: d["datasets"]["tiny/normal"]["generator"].update(seed=True),
            "generator.seed: this must be a whole number; it is true",
        ),
        (
            _add_url(raw={"byte_order": "big", "missing": ".nan"}),
            "raw.missing: NaN and infinite values count as missing anyhow",
        ),
        (_add_url(raw={"byte_order": "big", "missing": "none"}), "raw.missing: this must be a number; it is"),
        (_entry(lambda e: e.update(sha256="x" * 500)), f'[0-9a-f]{{64}}$; it is "{"x" * 59}…"'),
        (_entry(lambda e: e.update(dtype="y" * 500)), f'"{"y" * 59}…" is not known here'),
        (_entry(lambda e: e.pop("pypi")), "tiny/theta: give one of pypi, url, manual, generator, capture and local"),
        (lambda d: d["datasets"].update({"tiny/theta": [1]}), "tiny/theta: this must be a mapping"),
        (lambda d: d.update(datasets=5), 'datasets: this must be a mapping; it is "5"'),
    ],
)
def test_one_mistake_is_told_once_in_words_for_people(
    world: World, change: Callable[[dict[str, Any]], Any], told: str
) -> None:
    change(world.document)
    world.rewrite()
    with pytest.raises(CollpressError) as caught:
        load_registry(world.registry)
    said = str(caught.value)
    assert told in said
    assert "mistakes" not in said
    assert not re.search("Value error|instance|Input|Tuple|_Registry|valid", said)


def test_a_registry_that_is_a_list_must_be_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(CollpressError) as caught:
        load_registry(path)
    assert str(caught.value) == f"{path}:1: this must be a mapping"


def test_two_mistakes_of_different_fields_are_both_told(world: World) -> None:
    _entry(lambda e: e.update(shape=[0, 2, -1], title=""))(world.document)
    world.rewrite()
    with pytest.raises(CollpressError, match=r"3 mistakes(?s:.*)title(?s:.*)shape\[0\](?s:.*)shape\[2\]"):
        load_registry(world.registry)


@pytest.mark.parametrize("text", ["", "just text", "datasets: [", "a: 1\na: 2\n"])
def test_what_is_no_registry_at_all_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CollpressError, match=r"datasets\.yaml"):
        load_registry(path)


def test_a_missing_registry_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollpressError, match=r"nowhere\.yaml does not exist"):
        load_registry(tmp_path / "nowhere.yaml")
