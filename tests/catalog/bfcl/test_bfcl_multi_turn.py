"""Multi-turn tasks, executed in the sandbox on a SYNTHETIC class in the package's layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import Script, calling, saying, write_drawer
from tests.catalog.catalog_kit import benchmark, samples, source, validated

from benchwright.catalog.bfcl import execution
from benchwright.data.errors import DatasetError
from benchwright.engine.protocols import Score
from benchwright.records import Message, Outcome, Trial

TWO_TURNS = {"ground_truth": [["add_note(text='a')"], ["add_note('b', urgent=True)", "list_notes()"]]}
DONE = saying("Done.")


async def play(
    root: Path, *replies: Message, mode: str = "tools", category: str = "base"
) -> tuple[Score, Outcome, Script]:
    """A conversation with these replies, and its score."""
    task = benchmark("bfcl", {"mode": mode, "categories": f"multi_turn_{category}"})
    (sample,) = task.samples(source("bfcl", root))
    talk = Script(*replies)
    async with task.open() as solver:
        outcome = await solver.solve(Trial("t", sample, talk.target), talk)
        return await task.scorers[0].score(sample, outcome, talk), outcome, talk


def error_type(score: Score) -> str | None:
    assert score.detail is not None
    assert (score.value == 1.0) == ("error_type" not in score.detail)
    return score.detail.get("error_type")


@pytest.mark.parametrize("mode", ["tools", "prompt"])
async def test_gold_calls_pass_and_decoys_fail(mode: str, tmp_path: Path) -> None:
    held_back = {
        "ground_truth": [["add_note(text='a')"], [], ["remove_note(number=0)"]],
        "missed_function": {"2": ["remove_note"]},
    }
    root = write_drawer(tmp_path, base=TWO_TURNS, long_context=TWO_TURNS, miss_func=held_back)
    played = await validated("bfcl", root, mode=mode)
    assert (played.samples, played.checks, played.failures) == (3, 12, [])


async def test_results_are_told_to_the_model_call_by_call(tmp_path: Path) -> None:
    root = write_drawer(tmp_path, base={"ground_truth": [["add_note(text='a')", "list_notes()"]]})
    step = calling(("add_note", {"text": "a"}), ("list_notes", {}), ("lost", {}), ("remove_note", {}))
    score, _, talk = await play(root, step, DONE)
    assert [message["content"] for message in talk.asked[1][1][-4:]] == [
        '{"added": "a"}',
        "[['a', False]]",
        "Error during execution: name 'lost' is not defined",
        "Error during execution: GorillaFileSystem.remove_note() missing 1 required positional argument: 'number'",
    ]
    assert error_type(score) is None  # calls besides the expected ones are allowed


async def test_in_prompt_mode_results_come_as_a_user_message(tmp_path: Path) -> None:
    root = write_drawer(tmp_path, base={"ground_truth": [["add_note(text='a')"]]})
    score, _, talk = await play(root, saying("[add_note(text='a')]"), DONE, mode="prompt")
    assert talk.asked[1][1][-1] == {
        "role": "user",
        "content": "[{'role': 'tool', 'name': \"add_note(text='a')\", 'content': '{\"added\": \"a\"}'}]",
    }
    assert error_type(score) is None


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        (
            [("add_note", {"text": "a"})],
            [("add_note", {"text": "b", "urgent": True}), ("list_notes", {})],
            None,
        ),
        ([("add_note", {"text": "x"})], [], "multi_turn:instance_state_mismatch"),
        ([], [], "multi_turn:empty_turn_model_response"),
        (
            [("add_note", {"text": "a"})],
            [("add_note", {"text": "b", "urgent": True})],
            "multi_turn:execution_response_mismatch",
        ),
    ],
)
async def test_state_and_results_are_compared_after_every_turn(
    first: list[Any], second: list[Any], error: str | None, tmp_path: Path
) -> None:
    replies = []
    for calls in (first, second):
        replies += [calling(*calls), DONE] if calls else [DONE]
    score, _, _ = await play(write_drawer(tmp_path, base=TWO_TURNS), *replies)
    assert error_type(score) == error


async def test_what_was_found_out_earlier_need_not_be_asked_again(tmp_path: Path) -> None:
    root = write_drawer(tmp_path, base={"ground_truth": [["add_note(text='a')"], ["list_notes()"]]})
    both = calling(("add_note", {"text": "a"}), ("list_notes", {}))
    harmless = calling(("lost", {}))
    score, _, _ = await play(root, both, DONE, harmless, DONE)
    assert error_type(score) is None


async def test_functions_held_back_come_with_a_turn_of_their_own(tmp_path: Path) -> None:
    fields = {
        "ground_truth": [["add_note(text='a')"], ["remove_note(number=0)"]],
        "missed_function": {"1": ["remove_note"]},
    }
    root = write_drawer(tmp_path, miss_func=fields)
    replies = [
        calling(("add_note", {"text": "a"})),
        DONE,
        calling(("remove_note", {"number": 0})),
        DONE,
    ]
    score, _, talk = await play(root, *replies, category="miss_func")
    offered = [[tool["function"]["name"] for tool in params["tools"]] for _, _, params in talk.asked]
    assert offered[0] == ["add_note", "list_notes", "spin"]
    assert offered[2] == ["add_note", "list_notes", "spin", "remove_note"]
    assert talk.asked[2][1][-1]["content"].startswith("I have updated some more functions")
    assert error_type(score) is None


async def test_only_functions_on_offer_from_the_start_say_that_they_are_python(tmp_path: Path) -> None:
    """The authors take out what is held back before they add the note."""
    fields = {"ground_truth": [[], ["remove_note(number=0)"]], "missed_function": {"1": ["remove_note"]}}
    _, _, talk = await play(write_drawer(tmp_path, miss_func=fields), DONE, DONE, category="miss_func")
    tools = talk.asked[1][2]["tools"]
    described = {tool["function"]["name"]: tool["function"]["description"] for tool in tools}
    assert (
        described["add_note"]
        == "add_note of the drawer. Note that the provided function is in Python 3 syntax."
    )
    assert described["remove_note"] == "remove_note of the drawer."


async def test_arguments_that_are_no_json_end_the_turn_and_every_call_is_answered(tmp_path: Path) -> None:
    broken = calling(("add_note", {"text": "a"}), ("add_note", '{"text": '))
    score, outcome, talk = await play(write_drawer(tmp_path, base=TWO_TURNS), broken, DONE)
    assert [message["role"] for message in talk.asked[1][1]] == ["user", "assistant", "tool", "tool", "user"]
    assert outcome.artifacts["turns"] == [[], []]
    assert error_type(score) == "multi_turn:empty_turn_model_response"


async def test_a_turn_without_end_ends_the_conversation(tmp_path: Path) -> None:
    again = [calling(("list_notes", {}))] * 30
    score, _, talk = await play(write_drawer(tmp_path, base=TWO_TURNS), *again)
    assert len(talk.asked) == 21
    assert error_type(score) == "multi_turn:force_terminated"


async def test_a_call_that_does_not_end_is_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "STEP_SECONDS", 1.5)
    score, outcome, _ = await play(write_drawer(tmp_path, base=TWO_TURNS), calling(("spin", {})))
    assert error_type(score) == "multi_turn:execution_failed"
    assert "wrote no line" in outcome.artifacts["failed"]


@pytest.mark.parametrize(
    "name",
    ["__import__('os').system", "open", "_load_scenario", "eval", "add_note.__globals__.clear"],
)
async def test_only_public_methods_can_be_called(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    call = calling((name, {"text": f"touch {mark}"}))
    _, _, talk = await play(write_drawer(tmp_path, base=TWO_TURNS), call, DONE, DONE)
    assert talk.asked[1][1][-1]["content"].startswith("Error during execution: ")
    assert not mark.exists()


async def test_expressions_among_the_arguments_are_text_never_run(tmp_path: Path) -> None:
    text = "[add_note(text=open('mark', 'w'))]"
    drawer = write_drawer(tmp_path, base=TWO_TURNS)
    _, outcome, talk = await play(drawer, saying(text), DONE, DONE, mode="prompt")
    assert "Error" not in talk.asked[1][1][-1]["content"]
    assert outcome.artifacts["turns"][0] == [["add_note(text=\"open('mark', 'w')\")"]]


async def test_a_list_of_anything_but_values_ends_the_turn(tmp_path: Path) -> None:
    text = "[add_note(text=[c for c in 'ab'])]"
    _, outcome, _ = await play(write_drawer(tmp_path, base=TWO_TURNS), saying(text), DONE, mode="prompt")
    assert outcome.artifacts["turns"] == [[], []]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"involved_classes": ["Unheard"]}, "'Unheard' is not a known class"),
        ({"missed_function": {"0": ["lost"]}}, "no function 'lost'"),
        ({"question": []}, "one list of calls per turn"),
    ],
)
def test_a_row_that_cannot_be_played_is_told(fields: dict[str, Any], said: str, tmp_path: Path) -> None:
    root = write_drawer(tmp_path, base=TWO_TURNS | fields)
    with pytest.raises(DatasetError, match=said):
        samples("bfcl", root)
