"""What a word on the command line means."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_comparison import entry, side
from synthetic_campaign import Campaign, taking

from collpress.comparison.baseline import save
from collpress.comparison.subject import subject
from collpress.cube.build import build_cube
from collpress.errors import CollpressError


def cube(platform: str = "local", name: str = "quick") -> Path:
    campaign = Campaign(name=name, platform=platform, launches=5)
    campaign.add("one", outcome=taking(1.0, 1.1, 1.2, 1.3, 1.4))
    directory = campaign.write(Path("results"))
    build_cube(directory, root=directory)
    return directory / "cube.nc"


def test_a_campaign_on_a_platform_has_two_spellings_and_a_path() -> None:
    path = cube("mpich")
    found = [subject(word) for word in ("quick/mpich", "quick@mpich", str(path))]
    assert [of.measured.attrs["platform"] for of in found] == ["mpich"] * 3
    assert not any(of.baseline for of in found)
    assert found[0].measured == found[1].measured == found[2].measured
    assert len(found[0].measured.sha256) == 64


def test_a_point_of_a_cube_has_its_id_and_key() -> None:
    cube()
    (point,) = subject("quick/local").measured.entries
    assert point.id is not None
    assert point.key is not None
    assert point.launches["latency_median"] == (1.0, 1.1, 1.2, 1.3, 1.4)


def test_a_campaign_alone_is_meant_on_this_machine_and_a_baseline_has_a_name_or_a_path() -> None:
    cube()
    save("main", side([entry()]), "quick/one")
    assert subject("quick").measured.attrs["platform"] == "local"
    assert [subject(word).baseline for word in ("main", "baseline:main", "results/baselines/main.json")] == [True] * 3
    assert subject("main").words == "main, a baseline of quick on one, Open MPI 5"


def test_a_word_that_means_two_things_is_asked_back() -> None:
    cube()
    save("quick", side([entry()]), "quick/one")
    with pytest.raises(CollpressError, match="names a baseline and a campaign") as caught:
        subject("quick")
    assert "baseline:quick, or quick@local" in str(caught.value)
    assert subject("baseline:quick").baseline
    assert not subject("quick@local").baseline


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("quick", "did you mean quick@mpich?"),
        ("mian", 'did you mean "main"?'),
        ("nothing", "collpress run nothing"),
        ("quick/nowhere", "collpress run quick --platform nowhere"),
        ("quick@mpich@x", "names no cube"),
        ("baseline:none", "there is no baseline"),
        ("gone.json", "there is no baseline"),
        ("gone.nc", "there is no cube"),
        ("../main", "cannot name a campaign"),
        ("baseline:../main", "cannot name a baseline"),
        ("Quick", "cannot name a campaign"),
        ("", "cannot name a campaign"),
    ],
)
def test_a_word_that_means_nothing_is_answered_with_what_was_near(word: str, said: str) -> None:
    cube("mpich")
    save("main", side([entry()]), "quick/one")
    with pytest.raises(CollpressError) as caught:
        subject(word)
    assert said in str(caught.value)
