"""The memory categories: what is told in conversations goes into a memory, with which every question begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import Script, calling, saying
from tests.catalog.bfcl.memory_kit import Asked, write_memories
from tests.catalog.catalog_kit import samples, validated

from benchwright.catalog.bfcl.inside.rank_bm25 import BM25Plus
from benchwright.catalog.bfcl.memory import check_answer
from benchwright.catalog.bfcl.memory_prompts import ANSWER_FORMAT
from benchwright.data.errors import DatasetError
from benchwright.records import Message, Status, TrialRecord
from benchwright.runs.journal import TrialBody

NOTED = saying("Noted.")


def adding(text: str, category: str = "memory_rec_sum") -> Message:
    """A call that puts a text into the memory."""
    if category == "memory_rec_sum":
        return calling(("memory_append", {"text": text}))
    return calling(("core_memory_add", {"key": text.lower(), "value": text}))


def told(category: str = "memory_rec_sum") -> list[Message]:
    """The replies to the two conversations of the scenario `customer`."""
    return [adding("Ada", category), NOTED, adding("Rome", category), NOTED, NOTED]


def systems(talk: Script) -> list[str]:
    """The system prompts that were sent, each once."""
    return list(dict.fromkeys(messages[0]["content"] for _, messages, _ in talk.asked))


@pytest.mark.parametrize(("mode", "category"), [("tools", "memory_kv"), ("prompt", "memory_rec_sum")])
async def test_gold_answers_pass_and_decoys_fail(mode: str, category: str, tmp_path: Path) -> None:
    played = await validated("bfcl", write_memories(tmp_path), mode=mode, categories=category)
    assert (played.samples, played.checks, played.failures) == (4, 20, [])


@pytest.mark.parametrize("category", ["memory_kv", "memory_rec_sum"])
async def test_conversations_go_before_the_first_question_of_a_scenario(
    category: str, tmp_path: Path
) -> None:
    asked = Asked(tmp_path, category)
    outcome, talk = await asked.ask(0, *told(category), saying("{'answer': 'Ada'}"))
    first, second, question = systems(talk)
    assert first.endswith("previous interactions:\nnothing\n")
    assert "Ada; Rome" in second
    assert question == f"{second}\n\n{ANSWER_FORMAT}"
    assert [len(messages) for messages in outcome.artifacts["conversations"]] == [9, 3]
    assert await asked.score(0, outcome) == (1.0, None)


async def test_further_questions_begin_with_the_same_memory_and_add_nothing_to_it(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    await asked.ask(0, *told(), saying("Ada"))
    outcome, _ = await asked.ask(2, adding("a dog"), saying("A cat."))
    assert await asked.score(2, outcome) == (0.0, "agentic:answer_not_found")
    outcome, talk = await asked.ask(1, saying("the eternal city"))
    assert "Ada; Rome; \n" in talk.asked[0][1][0]["content"]
    assert outcome.artifacts["memory"] == {"memory": "Ada; Rome; "}
    assert await asked.score(1, outcome) == (1.0, None)


async def test_each_repeat_and_scenario_has_a_memory_of_its_own(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    await asked.ask(0, *told(), saying("Ada"))
    again, _ = await asked.ask(0, NOTED, NOTED, NOTED, saying("I do not know"), repeat=1)
    other, _ = await asked.ask(3, adding("tax"), NOTED, saying("tax"))
    assert again.artifacts["memory"] == {"memory": ""}
    assert other.artifacts["memory"] == {"memory": "tax; "}


async def test_a_resumed_run_takes_up_the_memories_of_trials_that_ended(tmp_path: Path) -> None:
    labels = {"category": "memory_rec_sum", "scenario": "customer"}
    ended = [TrialRecord("k", "memory_rec_sum_0-customer-0", "primary", Status.SCORED, labels=labels)]
    asked = Asked(tmp_path)
    asked.task.restore_state(ended, lambda _: TrialBody("k", artifacts={"memory": {"memory": "Ada; "}}))
    outcome, _ = await asked.ask(1, saying("Rome"))
    assert outcome.artifacts["memory"] == {"memory": "Ada; "}


async def test_what_broke_off_between_two_conversations_goes_on_there(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    with pytest.raises(IndexError):  # the script ends within the second conversation
        await asked.ask(0, *told()[:4])
    outcome, _ = await asked.ask(1, NOTED, saying("Rome"))
    assert outcome.artifacts["memory"] == {"memory": "Ada; Rome; "}


async def test_a_conversation_that_takes_too_many_steps_keeps_what_was_remembered(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    outcome, _ = await asked.ask(3, *[adding("x")] * 21, saying("tax"))
    assert outcome.artifacts["memory"] == {"memory": "x; " * 21}
    outcome, _ = await asked.ask(3, *[adding("tax")] * 21)
    assert await asked.score(3, outcome) == (0.0, "agentic:no_last_message")


async def test_a_memory_that_grows_without_bounds_is_as_it_was_before_the_conversation(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path)
    growing = calling(*[("memory_double", {})] * 20)
    outcome, _ = await asked.ask(0, adding("Ada"), NOTED, NOTED, growing, NOTED, saying("Ada"))
    assert outcome.artifacts["memory"] == {"memory": "Ada; "}


async def test_blanks_before_brackets_are_lost_as_with_the_authors(tmp_path: Path) -> None:
    outcome, _ = await Asked(tmp_path).ask(3, adding("budget (tax) \n (Q1)"), NOTED, saying("tax"))
    assert outcome.artifacts["memory"] == {"memory": "budget(tax) \n(Q1); "}


@pytest.mark.parametrize("name", ["exit", "remove"])
async def test_some_names_are_refused_whether_there_is_such_a_function_or_not(
    name: str, tmp_path: Path
) -> None:
    _, talk = await Asked(tmp_path).ask(3, calling((name, {})), NOTED, saying("tax"))
    assert talk.asked[1][1][-1]["content"] == f"Error during execution: Function call {name} is not allowed."


async def test_keys_are_found_by_their_words(tmp_path: Path) -> None:
    search = calling(("core_memory_key_search", {"query": "ada"}))
    outcome, talk = await Asked(tmp_path, "memory_kv").ask(0, *told("memory_kv"), search, saying("Ada"))
    assert json.loads(talk.asked[-1][1][-1]["content"])["ranked_results"][0][1] == "ada"
    assert outcome.artifacts["memory"]["core_memory"] == {"ada": "Ada", "rome": "Rome"}


@pytest.mark.parametrize(
    ("said", "answers", "right"),
    [
        ("It is ADA.", ["ada"], True),
        ("Adam", ["Ada"], False),
        ("April 1, 2024", ["April 1 2024"], True),
        ("April 1,2024", ["April 1 2024"], False),
        ("{'answer': 'The \"Red\" Lion'}", ["the 'red' lion"], True),
        ("twenty-one", ["twentyone"], True),
        ("{'answer': 'unknown', 'context': 'Ada was said'}", ["Ada"], True),
        ("it is 5%", ["5%"], False),
        ("a.b", ["a+b"], False),
        ("", ["Ada"], False),
    ],
)
def test_a_possible_answer_must_be_in_what_was_said(said: str, answers: Sequence[str], right: bool) -> None:
    assert (check_answer([saying(said)], {"turns": [[]]}, answers) is None) == right


def test_a_call_that_cannot_be_read_counts_as_what_was_said() -> None:
    """As for the official code, which takes it for the last message."""
    broken = calling(("memory_append", '{"text": "Ada'))
    messages: list[Any] = [broken, {"role": "tool", "content": "Error"}]
    assert check_answer(messages, {"turns": [[]]}, ["Ada"]) is None


def test_scores_of_keys_are_those_of_the_library() -> None:
    """Computed with rank_bm25 0.2.2."""
    corpus = [["user", "name"], ["pet", "dog", "name"], ["budget"]]
    assert BM25Plus(corpus).get_scores(["name", "dog", "zzz"]) == SCORES
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        BM25Plus([])


SCORES = [2.772588722239781, 3.776944841010314, 2.0794415416798357]


def test_they_are_asked_only_where_they_are_named(tmp_path: Path) -> None:
    root = write_memories(tmp_path)
    assert samples("bfcl", root) == []
    named = samples("bfcl", root, {"categories": "memory_kv"})
    assert [sample.id for sample in named][:2] == ["memory_kv_0-customer-0", "memory_kv_1-customer-1"]
    assert {sample.labels["scenario"] for sample in named} == {"customer", "notetaker"}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("memory_prereq_conversation", "holds no conversations of the BFCL memory categories"),
        ("memory_prereq_conversation/memory_notetaker.json", "no conversations of the scenario 'notetaker'"),
        ("func_source_code/memory_kv.py", r"hold no memory_kv\.json and memory_kv\.py"),
    ],
)
def test_what_is_missing_is_said(path: str, said: str, tmp_path: Path) -> None:
    root = write_memories(tmp_path)
    (root / path).rename(root / "elsewhere")
    with pytest.raises(DatasetError, match=said):
        samples("bfcl", root, {"categories": "memory_kv"})
