"""What a campaign needs before it can run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collpress.errors import CollpressError
from collpress.plan.needs import datasets_needed, plugin_directories, refuse_unknown_plugins
from collpress.spec import campaign_text, load_campaign

KNOWN = ["synthetic/normal", "synthetic/laplace", "weather/theta"]


def test_patterns_become_the_names_that_match(write: Any) -> None:
    campaign = write(one="matrix: {dataset: [synthetic/*, pattern]}", two="zip: {dataset: [weather/theta], ranks: [4]}")
    assert datasets_needed(campaign, KNOWN) == ["synthetic/laplace", "synthetic/normal", "weather/theta"]
    assert datasets_needed(campaign) == ["synthetic/*", "weather/theta"]


def test_a_dataset_that_is_not_registered_is_an_error_with_its_line(write: Any) -> None:
    with pytest.raises(CollpressError, match='unknown dataset "weather/tetha"') as error:
        datasets_needed(write("matrix: {dataset: [pattern, weather/tetha]}"), KNOWN)
    assert error.value.where == "test.yaml:4: experiments.e.matrix.dataset[1]"
    assert error.value.fix == 'did you mean "weather/theta"?'
    with pytest.raises(CollpressError, match='no dataset matches "sea/\\*"'):
        datasets_needed(write("matrix: {dataset: sea/*}"), KNOWN)


def test_a_private_dataset_may_be_called_by_its_public_id_where_it_is_registered(write: Any) -> None:
    campaign = write("matrix: {dataset: private-0123abcd}")
    public = {"lab/secret": "private-0123abcd", "weather/theta": "weather/theta"}
    assert datasets_needed(campaign, public, public) == ["lab/secret"]
    with pytest.raises(CollpressError, match='"private-0123abcd" is a private dataset of another machine') as error:
        datasets_needed(campaign, KNOWN)
    assert error.value.where == "test.yaml:4: experiments.e.matrix.dataset"
    assert "the sha256 of the values begins with 0123abcd" in error.value.fix


def test_plugin_directories_lie_beside_the_campaign(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    experiment = "{collective: allreduce, algorithm: 'library:*', message_bytes: 8, ranks: 2}"
    text = f"title: t\nplugins: [mine]\nexperiments: {{e: {{matrix: {experiment}}}}}\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    campaign = load_campaign(tmp_path / "own.yaml")
    assert plugin_directories(campaign) == [tmp_path / "mine"]


def test_snakemake_pays_for_no_heavy_import() -> None:
    code = (
        "import sys, collpress.plan.needs; print(sorted({'numpy', 'lark', 'xarray', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_codec_or_algorithm_that_nothing_makes_is_a_mistake(tmp_path: Path) -> None:
    native = tmp_path / "native"
    for source in ("codecs/zfp.cpp", "collectives/allreduce/ring.cpp", "compressed/allreduce/ring.cpp"):
        (native / source).parent.mkdir(parents=True, exist_ok=True)
        (native / source).touch()
    base = "collective: allreduce, message_bytes: 8, ranks: 2"
    matrix = f"{{{base}, algorithm: ['library:rng', 'reference:*', 'compressed:ring'], codec: [zpf, none]}}"
    campaign = campaign_text(f"title: t\nexperiments: {{e: {{matrix: {matrix}}}}}\n")
    with pytest.raises(CollpressError) as caught:
        refuse_unknown_plugins(campaign, native)
    assert 'unknown codec "zpf"' in str(caught.value)
    assert 'did you mean "zfp"?' in str(caught.value)
    assert "rng" not in caught.value.what
    right = campaign_text(f"title: t\nexperiments: {{e: {{matrix: {matrix.replace('zpf', 'zfp')}}}}}\n")
    refuse_unknown_plugins(right, native)


def test_an_algorithm_of_another_collective_is_a_mistake_with_the_names_that_exist(tmp_path: Path) -> None:
    for source in ("collectives/bcast/tree.cpp", "collectives/bcast/chain.cpp", "collectives/reduce/tree.cpp"):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).touch()

    def campaign(collective: str, algorithm: str, defaults: str = "") -> Any:
        matrix = f"{{collective: {collective}, message_bytes: 8, ranks: 2, algorithm: '{algorithm}'}}"
        return campaign_text(f"title: t\n{defaults}experiments: {{e: {{matrix: {matrix}}}}}\n")

    refuse_unknown_plugins(campaign("bcast", "reference:chain"), tmp_path)
    refuse_unknown_plugins(campaign("[reduce, bcast]", "reference:chain"), tmp_path)
    with pytest.raises(CollpressError, match='unknown algorithm "reference:chain"') as caught:
        refuse_unknown_plugins(campaign("reduce", "reference:chain"), tmp_path)
    assert caught.value.allowed == "reference:tree"
    with pytest.raises(CollpressError) as caught:
        refuse_unknown_plugins(
            campaign("reduce", "reference:tree", "defaults: {algorithm: 'reference:no'}\n"), tmp_path
        )
    assert (caught.value.where, caught.value.allowed) == ("campaign.yaml:2: defaults.algorithm", "reference:tree")


def test_a_campaigns_own_source_makes_a_name(tmp_path: Path) -> None:
    (tmp_path / "mine" / "below").mkdir(parents=True)
    (tmp_path / "mine" / "below" / "halves.c").touch()
    matrix = "{collective: allreduce, message_bytes: 8, ranks: 2, algorithm: 'compressed:halves', codec: halves}"
    text = f"title: t\nplugins: [mine]\nexperiments: {{e: {{matrix: {matrix}}}}}\n"
    refuse_unknown_plugins(campaign_text(text, str(tmp_path / "c.yaml")), tmp_path)


def test_a_metric_that_nothing_makes_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "psnr.cpp").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "drift.cpp").touch()
    matrix = "{collective: allreduce, message_bytes: 8, ranks: 2, algorithm: 'library:*'}"
    asked = "plugins: [mine]\nmetrics: [psnr, drift, 'error_*', NAME]"
    text = f"title: t\n{asked}\nexperiments: {{e: {{matrix: {matrix}}}}}\n"
    refuse_unknown_plugins(campaign_text(text.replace(", NAME", ""), str(tmp_path / "c.yaml")), tmp_path)
    with pytest.raises(CollpressError, match='unknown metric "pnsr"') as caught:
        refuse_unknown_plugins(campaign_text(text.replace("NAME", "pnsr"), str(tmp_path / "c.yaml")), tmp_path)
    assert caught.value.where.endswith("c.yaml:3: metrics[3]")
    assert (caught.value.allowed, caught.value.fix) == ("drift, psnr", 'did you mean "psnr"?')
