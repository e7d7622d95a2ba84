"""The command line: every verb explains itself, mistakes are answered in one message."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

from collpress import verbs
from collpress.cli import main

VERBS = sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(verbs.__path__))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([verb, "--help"])
    assert exit_.value.code == 0
    assert f"example: collpress {verb}" in capsys.readouterr().out


def test_the_overview_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for verb in VERBS:
        module = importlib.import_module(f"collpress.verbs.{verb.replace('-', '_')}")
        assert (module.__doc__ or "").splitlines()[0] in listed


def test_a_misspelt_verb_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pln"]) == 2
    assert 'did you mean "plan"?' in capsys.readouterr().err


def test_a_users_mistake_is_a_message_in_the_log_too_and_no_traceback(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "plan.log"
    assert main(["--log", str(log), "plan", "no-such-campaign"]) == 2
    said = capsys.readouterr().err
    assert "config/campaigns/no-such-campaign.yaml" in said
    assert "Traceback" not in said
    assert "no-such-campaign" in log.read_text(encoding="utf-8")
