"""bfcl:documented: one expected answer, equal in any order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import WEATHER, WEATHER_ANSWER, calling, content, saying
from tests.catalog.catalog_kit import samples, validated

from benchwright.catalog.bfcl.documented_variant import grade
from benchwright.catalog.registry import find_about
from benchwright.records import Message


def score(message: Message, category: str = "simple_python", answer: list[Any] | None = None) -> float | None:
    asked = content(category, [WEATHER], [WEATHER_ANSWER] if answer is None else answer)
    return grade(asked, message, message["content"] or "").score


async def test_real_tasks_pass_with_their_first_answer(real_rows: Path) -> None:
    played = await validated("bfcl:documented", real_rows / "bfcl")
    assert (played.samples, played.failures) == (130, [])


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"city": "New York", "days": 3}, 1.0),
        ({"days": "3", "city": "New York"}, 1.0),  # texts that are JSON are what they say
        ({"city": "New York, NY", "days": 3}, 0.0),  # allowed officially: alternatives are not known here
        ({"city": "new york", "days": 3}, 0.0),  # nor is the official comparison of strings
        ({"city": "New York", "days": 3, "above": 1.5}, 0.0),
    ],
)
def test_one_answer_is_expected(arguments: dict[str, Any], value: float) -> None:
    assert score(calling(("weather_now", arguments))) == value


@pytest.mark.parametrize(
    "text",
    [
        "weather_now(city='New York', days=3)",
        '```json\n[{"name": "weather_now", "arguments": {"city": "New York", "days": 3}}]\n```',
    ],
)
def test_calls_are_found_in_text(text: str) -> None:
    assert score(saying(text)) == 1.0


def test_calls_are_compared_in_any_order() -> None:
    answers = [{"weather.now": {"city": [city]}} for city in ("Rome", "Oslo")]
    calls = [("weather_now", {"city": city}) for city in ("Oslo", "Rome")]
    assert score(calling(*calls), "parallel", answers) == 1.0
    assert score(calling(calls[0], calls[0]), "parallel", answers) == 0.0


def test_where_nothing_fits_no_call_is_expected() -> None:
    assert score(saying("No function fits."), "irrelevance", []) == 1.0
    assert score(calling(("weather_now", {})), "irrelevance", []) == 0.0


def test_broken_arguments_are_a_wrong_answer() -> None:
    assert score(calling(("weather_now", "{"))) == 0.0


def test_relevance_and_multi_turn_tasks_are_not_asked(real_rows: Path) -> None:
    categories = {sample.labels["category"] for sample in samples("bfcl:documented", real_rows / "bfcl")}
    assert not [name for name in categories if name == "live_relevance" or name.startswith("multi_turn")]
    assert find_about("bfcl:documented").departures != ()
