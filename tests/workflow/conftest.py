"""A copy of the checkout in a folder whose name has a space and an accent, with a small campaign, run for real."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from checkout import CAMPAIGN, Checkout

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def copy_checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The project's files, not its results, in a folder with an awkward name; one run of the small campaign is done."""
    root = tmp_path_factory.mktemp("workflow") / "bar é" / "check out"
    ignored = shutil.ignore_patterns(
        ".venv", ".git", "results", ".cache", ".snakemake", "__pycache__", ".*_cache", ".hypothesis"
    )
    shutil.copytree(ROOT, root, ignore=ignored)
    checkout = Checkout(root)
    checkout.campaign(CAMPAIGN)
    done = checkout.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout
