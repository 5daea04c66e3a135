"""Conversations as text for a terminal.

A short view of the trial comes first, then the messages, tool calls and commands with their durations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from benchwright.analysis.report.messages import ParsedMessage, parse_messages
from benchwright.analysis.thinking import thinking_tokens_text
from benchwright.analysis.transcripts import Transcript
from benchwright.formats import format_duration, format_milliseconds
from benchwright.records import RequestRecord, ScoreRecord
from benchwright.reports.trial_preview import render_preview
from benchwright.runs.counting_rules import combine_statuses
from benchwright.text import make_lines_safe, make_safe

MAX_LOG_LINES = 20
"""Maximum number of lines that are shown from the end of a test log."""

MAX_TEST_RESULTS = 5
"""Maximum number of test results that are shown one by one."""

ROLE_STYLES = {"system": "magenta", "user": "cyan", "assistant": "green", "tool": "yellow"}


def render_transcripts(attempts: list[Transcript]) -> RenderableType:
    """Render the conversations of all attempts at a trial, one below the other."""
    return Group(*(part for attempt in attempts for part in (_render(attempt), Text(""))))


def _render(attempt: Transcript) -> RenderableType:
    trial = attempt.trial
    again = f", attempt {trial.attempt + 1}" if trial.attempt else ""
    status = combine_statuses(trial.status, [score.status for score in attempt.scores])
    head = f"row {make_safe(trial.sample)}, {make_safe(trial.target)}, run {trial.repeat}{again}: {status}"
    took = f" ({format_duration(trial.duration / 1e9)})" if trial.duration else ""
    parts: list[RenderableType] = [Text(f"{head}{took}", style="bold")]
    if trial.reason:
        parts.append(Text(make_safe(trial.reason), style="red"))
    parts.append(render_preview(attempt))
    if attempt.body is None:
        fate = "lost" if trial.body[1] else "not kept"
        parts.append(Text(f"The conversation was {fate}.", style="red"))
    else:
        messages, _ = parse_messages(attempt.body, (), 0, sys.maxsize)
        parts += [_message(message) for message in messages]
        parts += _in_containers(attempt.body.artifacts)
    parts += [Text(_detail(score), style="dim") for score in attempt.scores if score.detail]
    parts += [Text(_request(request), style="dim") for request in trial.requests]
    return Group(*parts)


def _message(message: ParsedMessage) -> RenderableType:
    style = f"bold {ROLE_STYLES.get(message.role, 'white')}"
    lines: list[RenderableType] = [Text(make_safe(message.role), style=style)]
    if message.reasoning:
        lines.append(_indented(Text(make_lines_safe(message.reasoning), style="dim italic")))
    if message.text:
        lines.append(_indented(Text(make_lines_safe(message.text))))
    calls = (Text(make_safe(f"→ {call.name}({call.arguments})"), style="yellow") for call in message.calls)
    lines += [_indented(call) for call in calls]
    return Group(*lines)


def _indented(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _in_containers(artifacts: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield each command that was run in a container, with its exit code and duration.

    Then yield the end of the test log.
    """
    for command in artifacts.get("commands") or ():
        told = f"$ {command['command']}\n  {_ended(command)}, {format_duration(command.get('seconds', 0.0))}"
        yield Text(make_lines_safe(told), style="dim")
    tests = artifacts.get("tests")
    if isinstance(tests, Mapping) and tests.get("log"):
        last = "\n".join(str(tests["log"]).rstrip().splitlines()[-MAX_LOG_LINES:])
        yield Text(
            f"tests: {make_safe(_ended(tests))}, {format_duration(tests.get('seconds', 0.0))}", style="bold"
        )
        yield Padding(Text(make_lines_safe(last), style="dim"), (0, 0, 0, 2), expand=False)


def _ended(ran: Mapping[str, Any]) -> str:
    ended = ran.get("ended", "exited")
    code = ran.get("exit_code")
    return ended if code is None else f"{ended} with {code}"


def _detail(score: ScoreRecord) -> str:
    shown = {name: _in_short(value) for name, value in (score.detail or {}).items()}
    return f"{make_safe(score.scorer)} {make_safe(msgspec.json.encode(shown).decode())}"


def _in_short(value: Any) -> Any:
    """Return a short form of the results of many tests: the number that passed, and the first failures.

    Any other value is returned unchanged.
    """
    if (
        not isinstance(value, Mapping)
        or len(value) <= MAX_TEST_RESULTS
        or set(value.values()) - {True, False}
    ):
        return value
    failed = [name for name, passed in value.items() if not passed]
    more = ", …" if len(failed) > MAX_TEST_RESULTS else ""
    names = f"; failed: {', '.join(failed[:MAX_TEST_RESULTS])}{more}" if failed else ""
    return f"{len(value) - len(failed):,} of {len(value):,} passed{names}"


def _request(request: RequestRecord) -> str:
    usage = request.usage
    parts = [f"request {request.id}"]
    if request.total:
        parts.append(f"latency {format_milliseconds(request.total_latency_seconds)} ms")
    if request.ttft_seconds is not None:
        parts.append(f"first token {format_milliseconds(request.ttft_seconds)} ms")
    if usage.total_tokens:
        parts.append(
            f"{usage.prompt_tokens or 0}+{usage.completion_tokens or 0} tokens{thinking_tokens_text(usage)}"
        )
    if request.attempts > 1:
        parts.append(f"{request.attempts} attempts, {format_duration(request.waited / 1e9)} of waiting")
    if request.error:
        parts.append(make_safe(request.error))
    return ", ".join(parts)
