"""What BFCL reads from its files, which tasks it takes, and how it offers functions to a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.catalog.bfcl.bfcl_kit import (
    WEATHER,
    WEATHER_ANSWER,
    Script,
    calling,
    function,
    saying,
    single_turn_rows,
    turn,
    write_category,
    write_drawer,
)
from tests.catalog.catalog_kit import benchmark, samples, validated
from tests.catalog.conversations import asked, solved

from benchwright.data.errors import DatasetError, DatasetNotFound
from benchwright.errors import UserError


def write_weather(root: Path, category: str = "simple_python", version: int = 4) -> Path:
    row, answer = single_turn_rows(category, [WEATHER_ANSWER], [WEATHER])
    write_category(root, version, category, [row], [answer])
    return root


@pytest.mark.parametrize("mode", ["tools", "prompt"])
async def test_real_tasks_pass_with_their_answers_and_fail_with_decoys(mode: str, real_rows: Path) -> None:
    played = await validated("bfcl", real_rows / "bfcl", mode=mode)
    assert (played.samples, played.failures) == (136, [])


def test_without_executable_classes_multi_turn_tasks_are_left_out_unless_named(real_rows: Path) -> None:
    groups = {sample.labels["group"] for sample in samples("bfcl", real_rows / "bfcl")}
    assert groups == {"non_live", "live"}
    with pytest.raises(DatasetNotFound, match=r"func_source_code.*benchwright fetch bfcl"):
        samples("bfcl", real_rows / "bfcl", {"categories": "multi_turn"})


def test_categories_and_groups_can_be_named(real_rows: Path) -> None:
    found = samples("bfcl", real_rows / "bfcl", {"categories": "simple_java, live_relevance"})
    assert {sample.labels["category"] for sample in found} == {"simple_java", "live_relevance"}
    live = samples("bfcl", real_rows / "bfcl", {"categories": "live"})
    assert {sample.labels["group"] for sample in live} == {"live"}


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        ("simple_pyton", "no BFCL category 'simple_pyton'.*Did you mean 'simple_python'"),
        ("web_search", "not run here: it needs a search service"),
        ("agentic", "not run here"),
    ],
)
def test_other_categories_are_told_from_mistakes(categories: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        benchmark("bfcl", {"categories": categories})


def test_a_named_category_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFound, match="no rows of the BFCL categories parallel"):
        samples("bfcl", write_weather(tmp_path), {"categories": "parallel,simple"})


async def test_version_3_is_read_under_its_own_names(tmp_path: Path) -> None:
    (sample,) = samples("bfcl", write_weather(tmp_path, "simple", version=3))
    assert (sample.id, sample.labels["category"]) == ("simple_0", "simple_python")
    assert (await validated("bfcl", tmp_path)).failures == []


@pytest.mark.parametrize(
    ("row", "answer", "said"),
    [
        ({"question": "What?"}, {}, "Row 0:.*question"),
        ({"function": [{"name": "f"}]}, {}, "simple_python_0: function:.*description"),
        ({"question": []}, {}, "question: it has no turn"),
        ({}, {"id": "another"}, "no possible answer"),
        ({}, {"ground_truth": [{"g": {}}]}, "calls no function on offer"),
        ({}, {"ground_truth": [{"weather.now": {"city": "Rome"}}]}, "Row 0:.*ground_truth"),
    ],
)
def test_a_row_that_is_not_as_it_should_be_is_told_with_its_field(
    row: dict[str, object], answer: dict[str, object], said: str, tmp_path: Path
) -> None:
    good_row, good_answer = single_turn_rows("simple_python", [WEATHER_ANSWER], [WEATHER])
    write_category(tmp_path, 4, "simple_python", [good_row | row], [good_answer | answer])
    with pytest.raises(DatasetError, match=said):
        samples("bfcl", tmp_path)


async def test_functions_are_offered_as_tools_with_json_schema(tmp_path: Path) -> None:
    (sample,) = samples("bfcl", write_weather(tmp_path))
    messages, params = await asked(benchmark("bfcl"), sample)
    (tool,) = params["tools"]
    assert messages == turn("What now?")
    assert tool["function"]["name"] == "weather_now"
    assert tool["function"]["description"] == (
        "The weather. Note that the provided function is in Python 3 syntax."
    )
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "integer", "description": "How many days."},
            "above": {
                "type": "number",
                "format": "float",
                "description": "Least temperature. This is a float type value.",
            },
        },
        "required": ["city"],
    }


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        ("any", {"type": "string"}),
        ("dict", {"type": "object"}),
        ("tuple of float", {"type": "array", "items": {"type": "number"}}),
    ],
)
async def test_types_become_those_of_json_schema(
    declared: str, schema: dict[str, object], tmp_path: Path
) -> None:
    row, answer = single_turn_rows("simple_python", [{"f": {"p": ["x"]}}], [function(p=declared)])
    write_category(tmp_path, 4, "simple_python", [row], [answer])
    _, params = await asked(benchmark("bfcl"), samples("bfcl", tmp_path)[0])
    shown = params["tools"][0]["function"]["parameters"]["properties"]["p"]
    assert shown == {"description": "."} | schema


async def test_java_values_are_asked_for_as_text(tmp_path: Path) -> None:
    answer_of = [{"f": {"p": [[1]]}}]
    row, answer = single_turn_rows("simple_java", answer_of, [function(p="ArrayList of Integer")])
    write_category(tmp_path, 4, "simple_java", [row], [answer])
    _, params = await asked(benchmark("bfcl"), samples("bfcl", tmp_path)[0])
    shown = params["tools"][0]["function"]
    assert shown["description"].endswith("in Java 8 SDK syntax.")
    assert shown["parameters"]["properties"]["p"] == {
        "type": "string",
        "description": ". This is Java ArrayList type parameter in string representation. The list elements "
        "are of type Integer; they are not in string representation.",
    }


async def test_in_prompt_mode_the_functions_stand_in_the_system_prompt(tmp_path: Path) -> None:
    (sample,) = samples("bfcl", write_weather(tmp_path), {"mode": "prompt"})
    messages, params = await asked(benchmark("bfcl", {"mode": "prompt"}), sample)
    assert params == {}
    assert [message["role"] for message in messages] == ["system", "user"]
    text = messages[0]["content"]
    assert text.startswith("You are an expert in composing functions.You are given a question")
    shown = json.loads(text[text.index("invoke.\n") + len("invoke.\n") :])
    assert (shown[0]["name"], shown[0]["parameters"]["type"]) == ("weather.now", "dict")


async def test_a_system_message_of_the_task_follows_the_prompt(tmp_path: Path) -> None:
    row, answer = single_turn_rows("simple_python", [WEATHER_ANSWER], [WEATHER])
    row["question"][0].insert(0, {"role": "system", "content": "Be brief."})
    write_category(tmp_path, 4, "simple_python", [row], [answer])
    messages, _ = await asked(benchmark("bfcl", {"mode": "prompt"}), samples("bfcl", tmp_path)[0])
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"].endswith("\n\nBe brief.")


async def test_the_score_says_what_was_wrong(tmp_path: Path) -> None:
    (sample,) = samples("bfcl", write_weather(tmp_path))
    task = benchmark("bfcl")
    talk = Script(calling(("weather_now", {"city": "Rome", "days": 3})))
    score = await task.scorers[0].score(sample, await solved(task, sample, talk), talk)
    assert score.value == 0.0
    assert score.span == "weather_now(city='Rome', days=3)"
    assert score.detail is not None
    assert {name: score.detail[name] for name in ("category", "group", "error_type", "correct")} == {
        "category": "simple_python",
        "group": "non_live",
        "error_type": "value_error:string",
        "correct": False,
    }


async def test_text_in_place_of_a_tool_call_is_a_wrong_answer(tmp_path: Path) -> None:
    (sample,) = samples("bfcl", write_weather(tmp_path))
    task = benchmark("bfcl")
    talk = Script(saying("[weather.now(city='New York', days=3)]"))
    score = await task.scorers[0].score(sample, await solved(task, sample, talk), talk)
    assert score.detail is not None
    assert (score.value, score.detail["error_type"]) == (0.0, "ast_decoder:decoder_failed")


async def test_a_task_without_any_right_call_is_listed_with_its_reason(tmp_path: Path) -> None:
    row, answer = single_turn_rows("simple_python", [{"f": {"p": [1], "q": [2]}}], [function(p="integer")])
    write_category(tmp_path, 4, "simple_python", [row], [answer])
    played = await validated("bfcl", tmp_path)
    assert played.failures == []
    assert played.exceptions == {
        "simple_python_0/gold": "'q' must be given, and is not a parameter of the function"
    }


def test_executables_are_part_of_what_a_sample_is(tmp_path: Path) -> None:
    root = write_drawer(tmp_path, base={"ground_truth": [["list_notes()"]]})
    (before,) = samples("bfcl", root)
    with open(root / "func_source_code" / "gorilla_file_system.py", "a", encoding="utf-8") as file:
        file.write("# changed\n")
    (after,) = samples("bfcl", root)
    assert before.content != after.content
