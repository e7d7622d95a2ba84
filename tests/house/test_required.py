"""A test that needs a part which is not there is skipped, and fails where COLLPRESS_REQUIRE names the part."""

from __future__ import annotations

import pytest
from required import skip_unless_required


def test_a_part_that_is_required_and_missing_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLPRESS_REQUIRE", "zig,compiler")
    with pytest.raises(pytest.fail.Exception, match="no compiler here"):
        skip_unless_required("compiler", "no compiler here")


@pytest.mark.parametrize("required", ["", "zig,compilers"])
def test_a_part_that_is_only_missing_is_told_with_what_would_require_it(
    required: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLPRESS_REQUIRE", required)
    with pytest.raises(pytest.skip.Exception, match=r"no compiler here \(COLLPRESS_REQUIRE=compiler makes"):
        skip_unless_required("compiler", "no compiler here")
