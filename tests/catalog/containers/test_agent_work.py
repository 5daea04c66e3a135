"""An agent at work in a real container, its model played by a script: how its work ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.catalog.containers.work_kit import (
    WITH_SH,
    Model,
    Places,
    called,
    calls,
    fenced,
    killed_when_there_is,
    says,
    shown_last,
)
from tests.sandbox.hostile_kit import gone_within, unmistakable_seconds

from benchwright.catalog.containers import AgentLimits, AgentResult, BashSession, run_shell_agent
from benchwright.endpoint.reply import Reply
from benchwright.errors import ExecutionError, LimitReached, ProviderError
from benchwright.records import Message, Status

TASK: list[Message] = [{"role": "user", "content": "Make it so."}]
LIMITS = AgentLimits(max_turns=5, command_seconds=20)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def bash(places: Places) -> BashSession:
    return await places.shared(WITH_SH)


@pytest_asyncio.fixture(loop_scope="module")
async def own(places: Places) -> AsyncIterator[BashSession]:
    """A session in a container that no other test has, as this one ends it."""
    async with places.own(WITH_SH) as bash:
        yield bash


def refused(text: str, http_status: int = 400) -> ProviderError:
    return ProviderError(
        f"http://127.0.0.1:1/v1 answered HTTP {http_status}: {text}", http_status=http_status
    )


async def shell_says(bash: BashSession, command: str) -> str:
    return (await bash.run(command, 20)).output.strip()


async def test_the_model_works_until_it_answers_without_a_command(bash: BashSession) -> None:
    model = Model(calls("cd /etc", "pwd"), calls("false"), says("It is done."))
    worked = await run_shell_agent(model, bash, TASK, LIMITS)
    assert (worked.status, worked.answer, worked.reason) == (Status.ANSWERED, "It is done.", None)
    assert [message["role"] for message in worked.messages] == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [message["content"] for message in worked.messages if message["role"] == "tool"] == [
        "[no output]",
        "/etc",
        "[exit code 1]",
    ]
    assert all(offered for _, offered in model.asked)
    assert [record.command for record in bash.commands] == ["cd /etc", "pwd", "false"]


async def test_fenced_blocks_do_as_well(bash: BashSession) -> None:
    worked = await run_shell_agent(Model(fenced("echo one", "echo two"), says("Done.")), bash, TASK, LIMITS)
    assert worked.status is Status.ANSWERED
    assert worked.messages[2] == {"role": "user", "content": "Command 1:\none\n\nCommand 2:\ntwo"}


async def test_a_model_that_calls_the_tool_may_show_commands_in_its_last_answer(bash: BashSession) -> None:
    last = fenced("sleep 1000")
    worked = await run_shell_agent(Model(calls("true"), last), bash, TASK, LIMITS)
    assert (worked.status, worked.answer) == (Status.ANSWERED, last.text)
    assert len(bash.commands) == 1


async def test_bad_calls_are_told_and_the_work_goes_on(bash: BashSession) -> None:
    model = Model(called("{", '{"command": "echo right"}'), says("Done."))
    worked = await run_shell_agent(model, bash, TASK, LIMITS)
    first, second = [message["content"] for message in worked.messages if message["role"] == "tool"]
    assert first.startswith("Error: the arguments are not valid JSON")
    assert second == "right"


async def test_an_answer_that_was_cut_off_is_no_end(bash: BashSession) -> None:
    model = Model(says("I think, I think", finish_reason="length"), calls("true"), says("Done."))
    worked = await run_shell_agent(model, bash, TASK, LIMITS)
    assert (worked.status, worked.answer) == (Status.ANSWERED, "Done.")
    assert "cut off" in model.asked[1][0][-1]["content"]


async def test_a_refusal_is_told_as_that(bash: BashSession) -> None:
    worked = await run_shell_agent(Model(Reply({}, refusal="I will not.")), bash, TASK, LIMITS)
    assert (worked.status, worked.reason) == (Status.REFUSED, "I will not.")


async def test_out_of_turns_what_was_done_counts(bash: BashSession) -> None:
    limits = AgentLimits(max_turns=2, command_seconds=20)
    worked = await run_shell_agent(
        Model(calls("echo 1 > /done"), calls("true"), says("never asked")), bash, TASK, limits
    )
    assert (worked.status, worked.reason) == (Status.LIMIT, "not done within 2 turns")
    assert not worked.container_ended
    assert await shell_says(bash, "cat /done") == "1"


async def test_a_command_at_its_limit_is_told_and_the_work_goes_on(bash: BashSession) -> None:
    limits = AgentLimits(max_turns=3, command_seconds=1)
    model = Model(calls("echo begun; exec sleep 600"), says("Too slow."))
    worked = await run_shell_agent(model, bash, TASK, limits)
    assert worked.status is Status.ANSWERED
    assert re.match(r"begun\n(Terminated\n)?\[ended after \d+ s, at its time limit\]$", shown_last(model))


async def test_out_of_seconds_while_a_command_runs_it_ends_and_the_container_can_be_used(
    bash: BashSession,
) -> None:
    seconds = unmistakable_seconds()
    limits = AgentLimits(max_turns=5, command_seconds=600, total_seconds=6)
    worked = await run_shell_agent(
        Model(calls(f"echo begun; sleep {seconds}", "echo never")), bash, TASK, limits
    )
    assert (worked.status, worked.reason) == (Status.LIMIT, "the work took longer than 6 s")
    assert worked.messages[-1]["content"].startswith("begun\n")
    assert [(record.command[:10], record.ended) for record in bash.commands] == [("echo begun", "timeout")]
    assert await gone_within(seconds, 1)
    assert not worked.container_ended
    assert await shell_says(bash, "echo usable") == "usable"


async def test_out_of_seconds_while_the_model_thinks(bash: BashSession) -> None:
    async def thinking() -> Reply:
        await asyncio.sleep(600)
        raise AssertionError("it was waited for")

    limits = AgentLimits(max_turns=5, command_seconds=600, total_seconds=1.5)
    worked = await run_shell_agent(Model(calls("true"), thinking), bash, TASK, limits)
    assert (worked.status, worked.reason) == (Status.LIMIT, "the work took longer than 1.5 s")


async def test_a_limit_of_the_trial_ends_the_work_and_not_the_trial(bash: BashSession) -> None:
    worked = await run_shell_agent(Model(calls("true"), LimitReached("tokens", 1000)), bash, TASK, LIMITS)
    assert (worked.status, worked.reason) == (Status.LIMIT, "the trial reached its limit of 1000 tokens")


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000.",
        "the request exceeds the available context size. try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
async def test_a_conversation_beyond_the_models_context_ends_the_work(bash: BashSession, said: str) -> None:
    worked = await run_shell_agent(Model(calls("true"), refused(said)), bash, TASK, LIMITS)
    assert (worked.status, worked.reason) == (
        Status.LIMIT,
        "the conversation is longer than the model's context",
    )


async def test_a_first_question_beyond_the_models_context_is_an_error(bash: BashSession) -> None:
    with pytest.raises(ProviderError, match="maximum context length"):
        await run_shell_agent(Model(refused("the maximum context length is 4096")), bash, TASK, LIMITS)


async def test_a_server_that_refuses_tools_is_asked_without_them_from_then_on(bash: BashSession) -> None:
    no_tools = refused('"auto" tool choice requires --enable-auto-tool-choice')
    model = Model(no_tools, fenced("echo one"), fenced("echo two"), says("Done."))
    worked = await run_shell_agent(model, bash, TASK, LIMITS)
    assert worked.status is Status.ANSWERED
    assert [offered for _, offered in model.asked] == [True, False, False, False]
    assert [record.output for record in bash.commands] == ["one\n", "two\n"]


async def test_who_wants_tools_gets_no_other_way(bash: BashSession) -> None:
    with pytest.raises(ProviderError, match="no tools here"):
        await run_shell_agent(Model(refused("no tools here")), bash, TASK, LIMITS, "tools")
    worked = await run_shell_agent(Model(fenced("echo one")), bash, TASK, LIMITS, "tools")
    assert (worked.status, bash.commands) == (Status.ANSWERED, [])


async def test_who_wants_fences_is_never_offered_tools(bash: BashSession) -> None:
    model = Model(fenced("echo one"), says("Done."))
    await run_shell_agent(model, bash, TASK, LIMITS, "fences")
    assert [offered for _, offered in model.asked] == [False, False]


async def test_other_failures_of_the_endpoint_are_errors(bash: BashSession) -> None:
    with pytest.raises(ProviderError, match="HTTP 500"):
        await run_shell_agent(Model(calls("true"), refused("the tool broke", 500)), bash, TASK, LIMITS)


async def test_a_full_disk_ends_the_work_with_its_container(own: BashSession) -> None:
    filler = "n=0; while :; do n=$((n+1)); head -c 4000000 /dev/zero > /full$n; sleep 0.1; done"
    worked = await run_shell_agent(Model(calls(filler, "echo never")), own, TASK, LIMITS)
    assert worked.container_ended
    assert (worked.status, worked.reason) == (Status.LIMIT, "too much was written to the container's disk")
    assert len(own.commands) == 1


async def test_a_program_that_cannot_be_ended_ends_the_work_with_its_container(own: BashSession) -> None:
    limits = AgentLimits(max_turns=5, command_seconds=1)
    worked = await run_shell_agent(
        Model(calls("sleep 600 & rm /bin/sh /bin/kill; sleep 600")), own, TASK, limits
    )
    assert worked.container_ended
    assert worked.status is Status.LIMIT
    assert worked.reason == "a command could not be ended at its time limit without its container"


async def test_a_container_ended_by_somebody_else_is_an_error(own: BashSession) -> None:
    killing = asyncio.ensure_future(killed_when_there_is("/begun", own.sandbox.container.name))  # type: ignore[attr-defined]
    with pytest.raises(ExecutionError, match="the container has ended: it was removed from outside"):
        await run_shell_agent(Model(calls("touch /begun; sleep 60")), own, TASK, LIMITS)
    await killing


async def test_what_is_shown_of_a_command_cannot_steer_a_terminal(bash: BashSession) -> None:
    model = Model(calls("\n  echo \x1b[31m\u202e" + "x" * 1000 + "\nmore"), says("Done."))
    await run_shell_agent(model, bash, TASK, LIMITS)
    (shown,) = model.shown
    assert shown.startswith("turn 1: echo xxx")
    assert shown.isprintable()
    assert len(shown) < 100


async def test_the_models_own_messages_are_left_as_they_were(bash: BashSession) -> None:
    given = [dict(message) for message in TASK]
    worked = await run_shell_agent(Model(calls("true"), says("Done.")), bash, given, LIMITS)
    assert given == TASK
    assert isinstance(worked, AgentResult)
