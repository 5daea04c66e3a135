"""Generation settings: the host's default, the pack's, the user's, in this order; what nobody gives is absent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.context import TIMEOUT_SETTING, resolve_generation

Settings = st.dictionaries(
    st.sampled_from(["temperature", "top_p", "maxTokens", TIMEOUT_SETTING]),
    st.none() | st.floats(0, 1),
    max_size=4,
)


def test_the_user_comes_after_the_pack_and_the_pack_after_the_host() -> None:
    assert resolve_generation({}, {}) == {TIMEOUT_SETTING: 300.0}
    assert resolve_generation({TIMEOUT_SETTING: 60, "temperature": 0}, {}) == {
        TIMEOUT_SETTING: 60,
        "temperature": 0,
    }
    assert resolve_generation({"temperature": 0}, {"temperature": 0.7}, 20) == {
        TIMEOUT_SETTING: 20,
        "temperature": 0.7,
    }


def test_keys_that_nobody_knows_go_through() -> None:
    assert resolve_generation({"maxTokens": 9, "stream": True}, {}) == {
        TIMEOUT_SETTING: 300.0, "maxTokens": 9, "stream": True,
    }  # fmt: skip


@given(Settings, Settings)
def test_none_takes_a_setting_away(defaults: dict[str, Any], overrides: dict[str, Any]) -> None:
    made = resolve_generation(defaults, overrides)
    merged = {TIMEOUT_SETTING: 300.0, **defaults, **overrides}
    assert made == {name: value for name, value in merged.items() if value is not None}
    assert None not in made.values()
