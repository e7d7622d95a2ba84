"""A codec's settings are checked against what it declares, and those that are as usual are no difference."""

from __future__ import annotations

import pytest
from small_house import House

from collpress.cli import main
from collpress.plan.inventory import known_offer

SETTLED = {"int8": "128 0", "int8(group=64,rounding=stochastic)": "64 1"}
MORE = """
  settled:
    matrix: {{algorithm: compressed:ring, codec: {codecs}, dataset: made/field, message_bytes: 64}}
"""


def settled(house: House, codecs: str) -> None:
    house.campaign()
    path = house.root / "config/campaigns/mini.yaml"
    text = path.read_text(encoding="utf-8").replace("  long:", MORE.format(codecs=codecs).lstrip("\n") + "  long:")
    path.write_text(text, encoding="utf-8")


def test_equal_settings_are_one_point_and_the_core_is_handed_all_of_them(house: House) -> None:
    settled(house, "[int8, int8(group=128), 'int8( rounding=nearest )', 'int8(rounding=stochastic, group=64)']")
    house.take()
    [row] = house.read(house.places.batches)["batches"]
    index = house.read(house.places.batch_index(row["batch"]))
    lines = [p["line"] for p in index["points"] if p["experiment"] == "settled"]
    assert [(line["codec"], line["codec_parameters"]) for line in lines] == list(SETTLED.items())
    assert {line["codec_plugin"] for line in lines} == {"results/native/here/plugins/int8.so"}


def test_an_inventory_keeps_what_codecs_declare(house: House) -> None:
    house.take()
    offer = known_offer(house.places)
    assert offer is not None
    codec = offer.codec("int8(group=64)")
    assert codec is not None
    assert [(p.name, p.choices, p.usual) for p in codec.parameters] == [
        ("group", (), 128.0),
        ("rounding", ("nearest", "stochastic"), 0.0),
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("int8(grup=64)", ['the codec int8 has no setting "grup"', "allowed: group, rounding", 'did you mean "group"']),
        ("int8(group=16)", ['group cannot be "16"', "whole numbers from 32 to 4096"]),
        ("int8(group=64.5)", ['group cannot be "64.5"', "whole numbers"]),
        ("int8(rounding=up)", ['rounding cannot be "up"', "nearest, stochastic"]),
        ("zfp(rate=8)", ['the codec zfp has no setting "rate"', "it has no settings"]),
    ],
)
def test_a_setting_that_there_is_not_is_told_with_its_place(
    house: House, capsys: pytest.CaptureFixture[str], written: str, told: list[str]
) -> None:
    house.take()
    settled(house, f"[none, '{written}']")
    for command in (["inventory", "mini", "--platform", "here"], ["plan", "mini", "--platform", "here"]):
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "mini.yaml:" in error
        assert "experiments.settled.matrix.codec[1]" in error
        for words in told:
            assert words in error


def test_the_codec_that_a_source_does_not_make_is_told_by_its_name_alone(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    settled(house, "int7(group=64)")
    assert main(["plan", "mini", "--platform", "here"]) == 2
    assert 'unknown codec "int7"' in capsys.readouterr().err
