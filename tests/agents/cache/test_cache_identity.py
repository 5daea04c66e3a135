"""What makes two configurations the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.cache.identity import config_hash, task_id

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
CONFIGS = st.dictionaries(st.text(), PLAIN | st.lists(PLAIN) | st.dictionaries(st.text(), PLAIN))


def test_it_is_the_digest_of_the_sorted_json() -> None:
    text = '{"limit":5,"model":"modèl","params":{"a":[1,null],"b":0.5}}'
    config = {"params": {"b": 0.5, "a": (1, None)}, "model": "modèl", "limit": 5, "base_url": None}
    assert config_hash(config) == xxhash.xxh3_128_hexdigest(text.encode())


def test_a_task_id_is_its_beginning() -> None:
    digest = config_hash({"model": "m"})
    assert len(digest) == 32
    assert task_id(digest) == digest[:12]


@given(CONFIGS, st.randoms())
def test_the_order_of_keys_does_not_matter(config: dict[str, Any], random: Any) -> None:
    shuffled = list(config.items())
    random.shuffle(shuffled)
    assert config_hash(dict(shuffled)) == config_hash(config)


@given(CONFIGS, st.text())
def test_what_is_not_given_does_not_count(config: dict[str, Any], name: str) -> None:
    config.pop(name, None)
    assert config_hash(config | {name: None}) == config_hash(config)


@given(CONFIGS, st.text(), st.integers() | st.text())
def test_every_value_counts(config: dict[str, Any], name: str, value: Any) -> None:
    other = config | {name: value}
    without = {key: item for key, item in config.items() if key != name}
    assert config_hash(other) != config_hash(without)
    assert config_hash(other) != config_hash(other | {name: [value]})


def test_the_sign_of_zero_does_not_count() -> None:
    assert config_hash({"a": -0.0, "b": [-0.0]}) == config_hash({"a": 0.0, "b": [0.0]})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        config_hash({"completion_params": {"temperature": value}})


def test_text_that_is_no_unicode_has_a_digest() -> None:
    assert config_hash({"dataset": "a\udcff"}) != config_hash({"dataset": "a"})
