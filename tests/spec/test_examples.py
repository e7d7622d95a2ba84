"""The examples in the docstrings hold."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from collpress.spec import document, factors, quantities


@pytest.mark.parametrize("module", [document, factors, quantities], ids=lambda m: m.__name__)
def test_the_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
