"""Suggestions for misspelt names."""

from __future__ import annotations

import pytest

from benchwright.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("numeirc", " Did you mean 'Numeric'?"), ("EXACT", " Did you mean 'exact'?"), ("zebra", "")],
)
def test_the_nearest_known_name_is_suggested(name: str, suggestion: str) -> None:
    assert did_you_mean(name, ["exact", "Numeric", "regex"]) == suggestion
