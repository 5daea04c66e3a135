"""Terminus at work in a real terminal, its model played by a script."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.catalog.containers.terminus.terminus_kit import TASK, types, worked
from tests.catalog.containers.work_kit import says, shown_last

from benchwright.catalog.containers.terminus.terminal import find_new_output
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import Status

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")

DONE = types(complete=True)
TOO_LONG = ProviderError("http://127.0.0.1:1/v1 answered HTTP 400: maximum context length", http_status=400)


async def test_the_model_types_sees_what_came_of_it_and_says_twice_that_it_is_done(tmp_path: Path) -> None:
    work, model = await worked(tmp_path, types("echo $((6*7)) | tee made\n"), DONE, DONE)
    assert (work.status, work.reason) == (Status.ANSWERED, None)
    assert (tmp_path / "made").read_text() == "42\n"
    shown = [str(messages[-1]["content"]) for messages, _ in model.asked]
    assert TASK in shown[0]
    assert "\n42\n" in shown[1]
    assert "once more" in shown[2]
    assert [one["command"] for one in work.artifacts["commands"]] == ["echo $((6*7)) | tee made\n"]


async def test_whoever_goes_on_after_saying_that_it_is_done_has_to_say_it_twice_again(tmp_path: Path) -> None:
    _, model = await worked(tmp_path, DONE, types("true\n"), DONE, DONE)
    assert len(model.asked) == 4


async def test_a_special_key_interrupts_what_runs(tmp_path: Path) -> None:
    script = [types("sleep 60; echo it ended\n"), types("C-c", "touch interrupted\n"), DONE, DONE]
    await worked(tmp_path, *script)
    assert (tmp_path / "interrupted").exists()


async def test_keys_that_are_too_long_for_one_call_of_tmux_are_typed_all_the_same(tmp_path: Path) -> None:
    lines = "".join(f"{number:04} {'x' * 60}\n" for number in range(400))
    await worked(tmp_path, types("cat > made\n", lines, "C-d", seconds=0.5), DONE, DONE)
    assert (tmp_path / "made").read_text() == lines


async def test_of_a_long_output_the_first_and_the_last_part_are_shown(tmp_path: Path) -> None:
    _, model = await worked(tmp_path, types("seq 1900\n", seconds=0.6), types("true\n"), DONE, DONE)
    first, _, _ = (str(messages[-1]["content"]) for messages, _ in model.asked[1:])
    assert "\n1\n2\n" in first
    assert "\n1899\n1900\n" in first
    assert len(first.encode()) < 10_200


async def test_an_answer_that_cannot_be_read_is_told_and_nothing_is_typed(tmp_path: Path) -> None:
    _, model = await worked(tmp_path, says("rm -rf everything"), DONE, DONE)
    assert "could not be read: there is no JSON object" in str(model.asked[1][0][-1]["content"])


async def test_nothing_of_an_answer_that_was_cut_off_is_done(tmp_path: Path) -> None:
    cut = says(types("touch made\n").text, finish_reason="length")
    await worked(tmp_path, cut, DONE, DONE)
    assert not (tmp_path / "made").exists()


async def test_the_work_is_over_when_the_shell_is(tmp_path: Path) -> None:
    work, model = await worked(tmp_path, types("exit\n", "echo\n"))
    assert work.status is Status.ANSWERED
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (types("sleep 9\n", seconds=9.0), "the work took longer than 2 s"),
        (LimitReached("tokens", 5), "the trial reached its limit of 5 tokens"),
    ],
)
async def test_a_limit_ends_the_work_and_not_the_trial(tmp_path: Path, line: object, reason: str) -> None:
    work, _ = await worked(tmp_path, types("true\n"), line, seconds=2.0)  # type: ignore[arg-type]
    assert (work.status, work.reason) == (Status.LIMIT, reason)


class TestAConversationThatIsTooLong:
    async def test_is_handed_over_by_a_summary_questions_and_answers(self, tmp_path: Path) -> None:
        asides = says("I made it."), says("Where is it?"), says("It is here.")
        work, model = await worked(tmp_path, types("echo one\n"), TOO_LONG, *asides, DONE, DONE)
        assert work.status is Status.ANSWERED
        summary, questions, answers = (messages for messages, _ in model.asked[2:5])
        assert [one["role"] for one in summary] == ["user", "assistant", "user"]
        assert len(questions) == 1
        assert "I made it." in str(questions[0]["content"])
        assert "Where is it?" in str(answers[-1]["content"])
        taken_over = model.asked[5][0]
        assert [one["role"] for one in taken_over] == ["user", "user", "assistant", "user"]
        assert "It is here." in str(taken_over[-1]["content"])

    async def test_goes_on_from_its_beginning_where_even_a_summary_is_too_long(self, tmp_path: Path) -> None:
        _, model = await worked(tmp_path, types("echo one\n"), TOO_LONG, TOO_LONG, DONE, DONE)
        assert len(model.asked[3][0]) == 3
        assert TASK in shown_last(model) or TASK in str(model.asked[3][0][-1]["content"])


def test_what_is_new_begins_at_the_line_of_the_prompt_and_is_unknown_after_a_clear() -> None:
    assert find_new_output("$ ls\na\n$ \n\n", "$ ls\na\n$ pwd\n/\n$ \n") == "$ pwd\n/\n$ \n"
    assert find_new_output("$ ls\na\n$ \n", "$ \n") is None
