"""Stepping through rollouts: what a person sees before each call of the model, and where their keys lead."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.types import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
)
from benchwright.agents.runners.errors import ProviderError, SystemicProviderError
from benchwright.agents.runners.reports import message_text, tool_text
from benchwright.agents.runners.rollouts import LocalRunResult
from benchwright.agents.runners.step_keys import StepCommand, StepKey, parse_command
from benchwright.agents.runners.stepping import Stepper, SteppingClient
from benchwright.agents.runners.test_mode import LocalTestRunner

TOOL = OpenAIFunctionToolSchema(
    type="function",
    function=OpenAIFunctionSchema(
        name="add",
        description="Adds numbers.",
        parameters=OpenAIFunctionParametersSchema(
            type="object",
            properties={
                "a": OpenAIFunctionPropertySchema(type="number"),
                "b": OpenAIFunctionPropertySchema(type="number"),
            },
            required=["a"],
        ),
    ),
)


class Scripted:
    """A person who types these lines, and after them no more. `seen` is all they saw, prompts included."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.seen: list[str] = []

    def show(self, text: str) -> None:
        self.seen += text.splitlines()

    async def ask(self, prompt: str) -> str | None:
        line = self._lines.pop(0) if self._lines else None
        self.seen.append(f"{prompt}{line}")
        return line

    def after(self, line: str) -> list[str]:
        """What they saw after a line up to the next prompt."""
        rest = self.seen[self.seen.index(line) + 1 :]
        prompts = [number for number, text in enumerate(rest) if text.startswith("[") and "] > " in text]
        return rest[: prompts[0] if prompts else len(rest)]


class Session:
    """An agent, a client in memory and three rows, the first of which is row 5; and a person at the keys."""

    ROWS = range(5, 8)

    def __init__(self, agent: Any, client: Any, rows: list[Any]) -> None:
        self.client = client
        self.results: list[LocalRunResult] = []
        self._agent = agent
        self._rows = rows

    async def run(self, *lines: str, first: int = 5) -> Scripted:
        person = Scripted(*lines)
        self.stepper = Stepper(person, self.ROWS)
        runner = LocalTestRunner(self._agent, SteppingClient(self.client, self.stepper))

        async def run_row(index: int) -> LocalRunResult:
            batch = await runner.run_batch([self._rows[index - 5]], start_index=index)
            self.results += batch.results
            return batch.results[0]

        await self.stepper.run_rows(first, run_row)
        return person

    @property
    def calls(self) -> int:
        """How often the model was asked."""
        return int(self.client.calls.count("chat"))


async def with_a_tool(ctx: RolloutContext) -> RolloutResult:
    """Asks, tells the model what a tool said, and asks again."""
    messages = list(ctx.request.messages)
    messages.append((await ctx.chat(messages)).message)
    messages.append({"role": "tool", "tool_call_id": "1", "content": "a tool's result"})
    messages.append((await ctx.chat(messages)).message)
    return ctx.complete(messages, reward=0.5)


@pytest.fixture
def session(make_agent: Any, fake_client: Any, make_rows: Any) -> Any:
    def make(run: Any = with_a_tool, answer: Any = lambda messages: f"answer {len(messages)}") -> Session:
        return Session(make_agent(run, tools=[TOOL]), fake_client(answer), make_rows(3))

    return make


class TestKeys:
    @pytest.mark.parametrize(
        ("lines", "key"),
        [
            (["n", "next", "", "  ", "N"], StepKey.NEXT),
            (["c", "continue"], StepKey.CONTINUE),
            (["m", "messages", " Messages "], StepKey.MESSAGES),
            (["t", "tools"], StepKey.TOOLS),
            (["q", "quit", "exit", "QUIT"], StepKey.QUIT),
            (["?", "help"], StepKey.HELP),
        ],
    )
    def test_each_has_its_words(self, lines: list[str], key: StepKey) -> None:
        assert {parse_command(line) for line in lines} == {StepCommand(key)}

    @given(st.integers(), st.sampled_from(["r {}", "row {}", " R  {} ", "{}"]))
    def test_a_row_is_named_by_its_number(self, row: int, form: str) -> None:
        assert parse_command(form.format(row)) == StepCommand(StepKey.ROW, row)

    @pytest.mark.parametrize("line", ["x", "r", "row", "r one", "r 1 2", "next row", "nn", "1.5"])
    def test_anything_else_is_none(self, line: str) -> None:
        assert parse_command(line) == StepCommand(None)

    def test_the_end_of_the_input_quits(self) -> None:
        assert parse_command(None) == StepCommand(StepKey.QUIT)

    @given(st.text())
    def test_every_line_means_something_or_nothing(self, line: str) -> None:
        command = parse_command(line)
        assert (command.row is not None) == (command.key is StepKey.ROW)


class TestSteps:
    async def test_no_call_is_made_before_the_person_says_so(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("q")
        assert stepping.calls == 0
        assert person.seen[2:] == [
            "Row 5 (5 to 7)",
            "[0] system: Be brief.",
            "[1] user: Say 0.",
            "[Step 1] > q",
        ]

    async def test_each_shows_what_is_new_and_makes_one_call(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("n", "", "q")
        assert person.after("[Step 1] > n")[0] == "[2] assistant: answer 2"
        assert person.after("[Step 1] > n")[2] == "[3] tool: a tool's result"
        assert person.after("[Step 2] > ")[0] == "[4] assistant: answer 4"
        assert stepping.calls == 2

    async def test_an_answer_comes_with_its_time_and_tokens(self, session: Any) -> None:
        person = await session().run("n")
        time = person.after("[Step 1] > n")[1]
        assert time.startswith("    (")
        assert time.endswith("ms, 10 tokens, stop)")

    async def test_the_result_follows_the_last(self, session: Any) -> None:
        person = await session().run("n", "n")
        assert person.seen[-3:] == [
            "Result: COMPLETED (reward=0.5)",
            "Tokens: 20, calls: 2",
            "[Row 5 ended] > None",
        ]

    async def test_continuing_makes_the_other_calls_without_asking(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("c")
        assert stepping.calls == 2
        assert [line for line in person.seen if "] > " in line] == ["[Step 1] > c", "[Row 5 ended] > None"]
        assert "[3] tool: a tool's result" in person.seen

    async def test_continuing_holds_for_one_row_only(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("c", "n", "q")
        assert [line for line in person.seen if "] > " in line][1:] == ["[Row 5 ended] > n", "[Step 1] > q"]
        assert stepping.calls == 2

    async def test_messages_and_tools_are_shown_as_often_as_wanted(self, session: Any) -> None:
        person = await session().run("n", "m", "t", "m", "q")
        conversation = ["[0] system: Be brief.", "[1] user: Say 0.", "[2] assistant: answer 2"]
        assert person.after("[Step 2] > m") == [*conversation, "[3] tool: a tool's result"]
        assert person.after("[Step 2] > t") == ["add(a: number, b?: number)", "    Adds numbers."]
        assert person.seen.count("[Step 2] > m") == 2

    async def test_they_stay_to_be_seen_when_the_row_has_ended(self, session: Any) -> None:
        person = await session().run("c", "m", "t")
        assert len(person.after("[Row 5 ended] > m")) == 5
        assert person.after("[Row 5 ended] > t")[0] == "add(a: number, b?: number)"

    async def test_what_is_no_command_is_told_and_changes_nothing(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("x", "?", "c", "c")
        assert person.after("[Step 1] > x") == ["Unknown command: x. Enter ? for help."]
        assert any("r N" in line for line in person.after("[Step 1] > ?"))
        assert person.after("[Row 5 ended] > c") == ["The row has ended. Enter ? for help."]
        assert stepping.calls == 2

    async def test_a_conversation_that_the_agent_rewrote_is_shown_from_there_on(self, session: Any) -> None:
        async def forgetful(ctx: RolloutContext) -> RolloutResult:
            await ctx.chat(ctx.request.messages)
            await ctx.chat([ctx.request.messages[0], {"role": "user", "content": "Once more."}])
            return ctx.complete([])

        person = await session(forgetful).run("n", "m")
        assert person.after("[Step 1] > n")[-1] == "[1] user: Once more."
        assert person.after("[Step 2] > m") == ["[0] system: Be brief.", "[1] user: Once more."]

    async def test_calls_side_by_side_are_taken_one_after_the_other(self, session: Any) -> None:
        async def twice(ctx: RolloutContext) -> RolloutResult:
            await asyncio.gather(ctx.chat(ctx.request.messages), ctx.chat(ctx.request.messages))
            return ctx.complete([])

        stepping = session(twice)
        person = await stepping.run("n", "n")
        assert stepping.client.most_busy == 1
        assert [line for line in person.seen if line.startswith("[Step")] == ["[Step 1] > n", "[Step 2] > n"]


class TestRows:
    async def test_next_after_a_row_is_the_next_row(self, session: Any) -> None:
        stepping = session()
        person = await stepping.run("c", "n", "c", "", "c")
        assert [line for line in person.seen if line.startswith("Row ")] == [
            f"Row {row} (5 to 7)" for row in (5, 6, 7)
        ]
        assert [result.row_index for result in stepping.results] == [5, 6, 7]

    async def test_next_after_the_last_row_is_out_of_range(self, session: Any) -> None:
        person = await session().run("c", "n", "q", first=7)
        assert person.after("[Row 7 ended] > n") == ["Row index out of range: 8. Rows: 5 to 7."]
        assert person.seen[-1] == "[Row 7 ended] > q"

    @pytest.mark.parametrize("line", ["r 7", "row 7", "7"])
    async def test_a_row_is_gone_to_by_its_number_from_the_midst_of_another(
        self, session: Any, line: str
    ) -> None:
        stepping = session()
        person = await stepping.run("n", line, "q")
        assert person.after(f"[Step 2] > {line}")[1:] == [
            "Row 7 (5 to 7)",
            "[0] system: Be brief.",
            "[1] user: Say 2.",
        ]
        assert stepping.calls == 1

    async def test_a_row_that_is_not_there_leaves_everything_as_it_is(self, session: Any) -> None:
        person = await session().run("r 8", "r -1", "n", "q")
        assert person.after("[Step 1] > r 8") == ["Row index out of range: 8. Rows: 5 to 7."]
        assert person.after("[Step 1] > r -1") == ["Row index out of range: -1. Rows: 5 to 7."]
        assert person.seen[-1] == "[Step 2] > q"

    async def test_the_same_row_can_be_run_again(self, session: Any) -> None:
        stepping = session()
        await stepping.run("c", "r 5", "c")
        assert [result.row_index for result in stepping.results] == [5, 5]
        assert stepping.calls == 4

    async def test_a_row_that_was_left_has_not_failed(self, session: Any) -> None:
        stepping = session()
        await stepping.run("n", "r 6", "c")
        assert stepping.stepper.failed == 0

    async def test_an_agent_that_tries_again_whatever_happens_is_left_all_the_same(
        self, session: Any
    ) -> None:
        tries = []

        async def stubborn(ctx: RolloutContext) -> RolloutResult:
            for number in range(100):
                tries.append(number)
                try:
                    await ctx.chat(ctx.request.messages)
                except Exception:
                    continue
            return ctx.complete([])

        person = await session(stubborn).run("q")
        assert tries == [0]
        assert person.seen[-1] == "[Step 1] > q"

    async def test_so_is_one_that_asks_on_its_way_out(self, session: Any) -> None:
        async def asks_last(ctx: RolloutContext) -> RolloutResult:
            try:
                await ctx.chat(ctx.request.messages)
            finally:
                await ctx.chat(ctx.request.messages)
            return ctx.complete([])

        stepping = session(asks_last)
        person = await stepping.run("q")
        assert stepping.calls == 0
        assert person.seen[-1] == "[Step 1] > q"


class TestFailures:
    async def test_a_row_whose_agent_raises_has_failed(self, session: Any) -> None:
        async def stumble(ctx: RolloutContext) -> RolloutResult:
            await ctx.chat(ctx.request.messages)
            raise ValueError("no such page")

        stepping = session(stumble)
        person = await stepping.run("n")
        assert person.seen[-3:-1] == ["Result: ERROR - no such page", "Tokens: 10, calls: 1"]
        assert stepping.stepper.failed == 1

    async def test_so_has_one_whose_agent_says_so(self, session: Any) -> None:
        async def report(ctx: RolloutContext) -> RolloutResult:
            return ctx.error("out of ideas")

        stepping = session(report)
        person = await stepping.run()
        assert person.seen[-3:-1] == ["Result: ERROR - out of ideas", "Tokens: 0, calls: 0"]
        assert stepping.stepper.failed == 1

    async def test_a_call_that_failed_is_shown_and_may_be_made_again(self, session: Any) -> None:
        answers: list[Any] = [ProviderError("the server is busy"), "now"]

        async def patient(ctx: RolloutContext) -> RolloutResult:
            try:
                answer = await ctx.chat(ctx.request.messages)
            except ProviderError:
                answer = await ctx.chat(ctx.request.messages)
            return ctx.complete([*ctx.request.messages, answer.message])

        stepping = session(patient, lambda _: answers.pop(0))
        person = await stepping.run("n", "n")
        assert person.after("[Step 1] > n") == ["The call failed: the server is busy"]
        assert person.after("[Step 2] > n")[0] == "[2] assistant: now"
        assert stepping.stepper.failed == 0

    async def test_a_model_that_cannot_be_asked_fails_the_row_and_the_session_goes_on(
        self, session: Any
    ) -> None:
        stepping = session(answer=lambda _: SystemicProviderError("wrong key"))
        person = await stepping.run("n", "n", "n")
        assert person.after("[Step 1] > n") == [
            "The call failed: wrong key",
            "Result: ERROR - wrong key",
            "Tokens: 0, calls: 0",
        ]
        assert stepping.stepper.failed == 2


class TestText:
    def test_the_lines_of_a_message_stand_below_its_number(self) -> None:
        message = {"role": "user", "content": "one\ntwo"}
        assert message_text(3, message) == "[3] user: one\n    two"

    def test_tool_calls_are_told_by_name_and_arguments(self) -> None:
        calls = [{"id": "1", "function": {"name": "add", "arguments": '{"a": 1}'}}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        assert message_text(2, message) == '[2] assistant:\n    calls add({"a": 1})'

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            ({"role": "user", "content": [{"type": "text", "text": "See:"}, {"type": "image_url"}]},
             "[0] user: See:\n    [image_url]"),
            ({"role": "assistant", "content": None, "refusal": "I would rather not."},
             "[0] assistant: I would rather not."),
            ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
             '[0] assistant:\n    calls f({"a":1})'),
            ({"role": "assistant", "tool_calls": ["odd"]}, "[0] assistant:\n    calls odd"),
            ({"role": "tool", "content": 7}, "[0] tool: 7"),
        ],
    )  # fmt: skip
    def test_whatever_an_agent_sends_can_be_shown(self, message: dict[str, Any], text: str) -> None:
        assert message_text(0, message) == text

    def test_a_tool_is_told_by_its_parameters(self) -> None:
        assert tool_text(TOOL.model_dump()) == "add(a: number, b?: number)\n    Adds numbers."

    def test_a_tool_needs_neither_parameters_nor_description(self) -> None:
        assert tool_text({"type": "function", "function": {"name": "now"}}) == "now()"
