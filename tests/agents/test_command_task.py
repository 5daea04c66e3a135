"""An agent that is a program, in real processes against a real (simulated) endpoint."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows

from benchwright.agents.command_task import CommandAgent, command_task
from benchwright.endpoint.simulate import Faults, Settings, keyed_answers
from benchwright.errors import UserError
from benchwright.records import Status, TrialLimits
from benchwright.secrets import SECRETS

EXAMPLES = Path(__file__).parents[2] / "examples"

PRELUDE = """
import json, os, sys, time, urllib.error, urllib.request

def ask(content, **fields):
    messages = [{"role": "user", "content": content}]
    body = json.dumps({"model": "mine", "messages": messages, **fields}).encode()
    token = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, token)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

row = json.load(sys.stdin)
"""

RunProgram = Callable[..., Coroutine[Any, Any, Ran]]


@pytest.fixture
def dataset(tmp_path: Path, row: dict[str, Any]) -> Path:
    return write_rows(tmp_path / "rows.jsonl", row)


@pytest.fixture
def run_program(tmp_path: Path, dataset: Path) -> RunProgram:
    """Runs one trial of an agent that is this Python program, `row` and `ask` at hand."""

    async def run(program: str, *arguments: Any, **options: Any) -> Ran:
        script = tmp_path / "agent.py"
        script.write_text(PRELUDE + program)
        command = shlex.join([sys.executable, str(script)])
        return await run_trial(command_task(dataset, command, ()), *arguments, **options)

    return run


class TestProgram:
    async def test_gets_the_row_as_one_json_object(
        self, run_program: RunProgram, row: dict[str, Any]
    ) -> None:
        ran = await run_program("print(json.dumps({'answer': json.dumps(row)}))")
        assert json.loads(ran.body.answer) == {**row, "row_index": 0, "run_index": 0}

    async def test_answers_by_what_it_prints(self, run_program: RunProgram) -> None:
        ran = await run_program("print('First line')\nprint('42 \u00e9')")
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "First line\n42 é")

    async def test_is_recorded_with_every_request(self, run_program: RunProgram) -> None:
        ran = await run_program("ask('one', stream=False)\nprint(ask('two', temperature=0.5))")
        assert [(request.turn, request.error) for request in ran.record.requests] == [(0, None), (1, None)]
        assert all(request.usage.total_tokens > 0 for request in ran.record.requests)
        assert [exchange.request for exchange in ran.body.exchanges] == [
            {"model": "the-model", "stream": False},
            {"model": "the-model", "temperature": 0.5},
        ]
        assert ran.body.messages == [
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": "two"},
        ]

    async def test_sends_the_targets_settings_whatever_it_sets(self, run_program: RunProgram) -> None:
        ran = await run_program("print(ask('one', seed=1, top_p=0.5))", temperature=0.1, seed=5)
        assert ran.body.exchanges[0].request == {
            "model": "the-model",
            "temperature": 0.1,
            "seed": 5,
            "top_p": 0.5,
        }

    async def test_is_run_without_a_shell(self, dataset: Path) -> None:
        ran = await run_trial(command_task(dataset, "echo '$HOME *' ';' false", ()))
        assert ran.body.answer == "$HOME * ; false"

    async def test_may_leave_its_input_unread(self, tmp_path: Path, row: dict[str, Any]) -> None:
        dataset = write_rows(tmp_path / "large.jsonl", {**row, "text": "x" * 1_000_000})
        ran = await run_trial(command_task(dataset, "echo done", ()))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "done")


class TestConversation:
    async def test_ends_with_the_answer(self, run_program: RunProgram) -> None:
        ran = await run_program("print(ask('Hello').upper())")
        assert [message["content"] for message in ran.body.messages] == ["Hello", "Hello", "HELLO"]

    async def test_is_what_the_program_says_it_was(self, run_program: RunProgram) -> None:
        said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
        ran = await run_program(f"ask('Hello')\nprint(json.dumps({{'messages': {said!r}}}))")
        assert ran.body.messages == said
        assert ran.body.answer == "!"

    async def test_may_come_with_an_answer_of_its_own(self, run_program: RunProgram) -> None:
        said = [{"role": "user", "content": "?"}]
        ran = await run_program(f"print(json.dumps({{'messages': {said!r}, 'answer': '7'}}, indent=2))")
        assert ran.body.messages == [*said, {"role": "assistant", "content": "7"}]

    async def test_is_only_the_answer_of_a_program_that_asked_nobody(self, run_program: RunProgram) -> None:
        ran = await run_program("print('7')")
        assert ran.body.messages == [{"role": "assistant", "content": "7"}]

    @pytest.mark.parametrize("printed", ['{"result": 7}', '{"answer": 7', "{}", '["answer"]', "{answer}"])
    async def test_is_not_taken_from_other_json(self, run_program: RunProgram, printed: str) -> None:
        ran = await run_program(f"print({printed!r})")
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, printed)

    @pytest.mark.parametrize(
        ("printed", "reason"),
        [
            ('{"answer": 7}', "'answer' must be text, not int"),
            ('{"messages": "hello"}', "'messages' must be a list of messages"),
            ('{"messages": [{"content": "x"}]}', "'messages' must be a list of messages"),
        ],
    )
    async def test_of_the_wrong_shape_is_the_programs_error(
        self, run_program: RunProgram, printed: str, reason: str
    ) -> None:
        ran = await run_program(f"print({printed!r})")
        assert ran.record.status is Status.EXECUTION_ERROR
        assert reason in str(ran.record.reason)

    async def test_that_was_cut_off_is_told(self, run_program: RunProgram) -> None:
        ran = await run_program("print(ask('a b c d e f', max_tokens=2))", Settings(policy="words"))
        assert ran.record.status is Status.TRUNCATED


class TestEnvironment:
    @pytest.fixture(autouse=True)
    def keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SECRETS, "_secrets", [])
        monkeypatch.setattr(SECRETS, "_encoded", [])
        monkeypatch.setenv("OPENAI_API_KEY", "sk-the-real-key")
        monkeypatch.setenv("BENCHWRIGHT_API_KEY", "sk-another-key")
        monkeypatch.setenv("MY_COPY", "Bearer sk-the-real-key")
        monkeypatch.setenv("SEARCH_KEY", "for a tool of the agent")

    async def environment(self, run_program: RunProgram) -> tuple[dict[str, str], Ran]:
        SECRETS.add("sk-the-real-key")
        ran = await run_program(
            "ask('Hello')\nprint(json.dumps({'answer': json.dumps(dict(os.environ))}))",
            Settings(api_key="sk-the-real-key"),
            key="sk-the-real-key",
        )
        return json.loads(ran.body.answer), ran

    async def test_leads_to_the_model_through_the_relay(self, run_program: RunProgram) -> None:
        environment, ran = await self.environment(run_program)
        assert environment["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
        assert environment["OPENAI_MODEL"] == "the-model"
        assert environment["BENCHWRIGHT_TRIAL"] == ran.record.key
        assert ran.record.requests[0].http_status == 200

    async def test_holds_no_real_key(self, run_program: RunProgram) -> None:
        environment, _ = await self.environment(run_program)
        assert environment["OPENAI_API_KEY"].startswith("benchwright-")
        assert "MY_COPY" not in environment
        assert "BENCHWRIGHT_API_KEY" not in environment
        assert "the-real-key" not in str(environment)

    async def test_is_otherwise_the_users(self, run_program: RunProgram) -> None:
        environment, _ = await self.environment(run_program)
        assert environment["SEARCH_KEY"] == "for a tool of the agent"
        assert environment["PATH"] == os.environ["PATH"]

    async def test_keeps_the_relay_out_of_a_proxys_way(
        self, run_program: RunProgram, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "intranet")
        environment, ran = await self.environment(run_program)
        assert ran.record.requests[0].http_status == 200
        assert environment["no_proxy"] == environment["NO_PROXY"] == "intranet,127.0.0.1"


class TestFailure:
    async def test_is_told_by_the_last_line_on_stderr(self, run_program: RunProgram) -> None:
        ran = await run_program("ask('Hello')\nprint('note', file=sys.stderr)\n[][1]")
        assert ran.record.status is Status.EXECUTION_ERROR
        assert (
            ran.record.reason == "the program ended with exit status 1: IndexError: list index out of range"
        )
        assert ran.body.artifacts["stderr"].startswith("note\nTraceback")
        assert [message["content"] for message in ran.body.messages] == ["Hello", "Hello"]

    async def test_by_a_signal_is_named(self, run_program: RunProgram) -> None:
        ran = await run_program("os.kill(os.getpid(), 11)")
        assert ran.record.reason == "the program was killed by SIGSEGV"

    async def test_keeps_the_end_of_a_long_stderr(self, run_program: RunProgram) -> None:
        ran = await run_program("sys.stderr.write('x' * 1_000_000 + '\\nthe end')\nprint('fine')")
        assert ran.record.status is Status.ANSWERED
        assert len(ran.body.artifacts["stderr"]) == 65536
        assert ran.body.artifacts["stderr"].endswith("the end")

    async def test_to_stop_printing_ends_the_program(self, run_program: RunProgram) -> None:
        ran = await run_program("while True: sys.stdout.write('x' * 65536)")
        assert ran.record.status is Status.EXECUTION_ERROR
        assert ran.record.reason == "the program wrote more than 10 MB of output"

    async def test_of_the_endpoint_is_the_endpoints(self, run_program: RunProgram) -> None:
        ran = await run_program("print(ask('Hello'))", Settings(api_key="right"), key="wrong")
        assert ran.record.status is Status.PROVIDER_ERROR
        assert "refused the key" in str(ran.record.reason)
        assert ran.systemic

    async def test_that_the_program_talks_over_is_still_one(self, run_program: RunProgram) -> None:
        program = "try: ask('Hello')\nexcept urllib.error.HTTPError as error: print(error)"
        ran = await run_program(program, Settings(api_key="right"), key="wrong")
        assert ran.record.status is Status.PROVIDER_ERROR

    async def test_that_passes_is_asked_again_by_the_relay(self, run_program: RunProgram) -> None:
        faults = Faults(server_error=1.0, max_faults=1)
        ran = await run_program("print(ask('Hello'))", Settings(faults=faults), limits=TrialLimits(turns=1))
        assert ran.record.status is Status.ANSWERED
        (request,) = ran.record.requests
        assert (request.attempts, request.http_status) == (2, 200)

    async def test_that_stays_may_be_asked_again_by_the_program_in_the_same_turn(
        self, run_program: RunProgram
    ) -> None:
        program = "try: ask('Hello')\nexcept Exception: print(ask('Hello'))"
        faults = Faults(truncate=1.0, max_faults=1)
        ran = await run_program(program, Settings(faults=faults), limits=TrialLimits(turns=1))
        assert [request.turn for request in ran.record.requests] == [0, 0]


def alive(pid: int) -> bool:
    """Whether a process is there and not only waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def all_ended(pids: Path) -> None:
    """Waits for these processes to be gone; killed ones take a moment."""
    async with asyncio.timeout(5):
        while any(alive(int(pid)) for pid in pids.read_text().split()):
            await asyncio.sleep(0.01)


LONG = """
import signal, subprocess
child = subprocess.Popen(["sleep", "300"])
with open("{path}.part", "w") as file:
    file.write(str(os.getpid()) + " " + str(child.pid))
os.rename("{path}.part", "{path}")
{more}
time.sleep(300)
"""


class TestLimit:
    async def test_of_turns_refuses_the_next_request(self, run_program: RunProgram) -> None:
        ran = await run_program("for _ in range(9): ask('Hello')", limits=TrialLimits(turns=2))
        assert (ran.record.status, ran.record.reason) == (
            Status.LIMIT,
            "the trial reached its limit of 2 turns",
        )
        assert len(ran.record.requests) == 2

    async def test_may_be_handled_by_the_program(self, run_program: RunProgram) -> None:
        program = """
try:
    while True: last = ask('Hello')
except urllib.error.HTTPError as error:
    print(last, json.load(error)["error"]["code"])
"""
        ran = await run_program(program, limits=TrialLimits(turns=2))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello turns")

    @pytest.mark.parametrize("fields", ["", ", stream=True"])
    async def test_of_tokens_holds_with_and_without_usage(self, run_program: RunProgram, fields: str) -> None:
        program = f"""
for _ in range(9):
    try: ask('Hello'{fields})
    except ValueError: pass  # a stream is not valid JSON
"""
        ran = await run_program(program, Settings(policy="words", words=10), limits=TrialLimits(tokens=25))
        assert ran.record.status is Status.LIMIT
        assert 2 <= len(ran.record.requests) <= 3

    @pytest.mark.parametrize("more", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
    async def test_of_seconds_ends_the_program_and_all_that_it_started(
        self, run_program: RunProgram, tmp_path: Path, more: str
    ) -> None:
        pids = tmp_path / "pids"
        started = time.monotonic()
        ran = await run_program(LONG.format(path=pids, more=more), limits=TrialLimits(seconds=1.0))
        assert ran.record.status is Status.LIMIT
        assert time.monotonic() - started < 20
        await all_ended(pids)

    async def test_lets_a_program_clean_up(self, run_program: RunProgram, tmp_path: Path) -> None:
        note = tmp_path / "note"
        more = (
            f"signal.signal(signal.SIGTERM, lambda *_: (open({str(note)!r}, 'w').write('bye'), sys.exit(1)))"
        )
        await run_program(LONG.format(path=tmp_path / "pids", more=more), limits=TrialLimits(seconds=1.0))
        assert note.read_text() == "bye"

    async def test_ends_the_program_of_a_run_that_is_stopped(
        self, run_program: RunProgram, tmp_path: Path
    ) -> None:
        pids = tmp_path / "pids"
        running = asyncio.create_task(run_program(LONG.format(path=pids, more="")))
        while not pids.exists():
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await all_ended(pids)

    async def test_does_not_spare_what_a_program_leaves_behind(
        self, run_program: RunProgram, tmp_path: Path
    ) -> None:
        pids = tmp_path / "pids"
        ran = await run_program(LONG.format(path=pids, more="print('done'); sys.exit()"))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "done")
        await all_ended(pids)


class TestCommand:
    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("", "command is empty"),
            ("python 'agent.py", "cannot be read: No closing quotation"),
            ("no-such-program --fast", "'no-such-program' is not found"),
            ("./agent.py", "'./agent.py' is not found"),
        ],
    )
    def test_that_cannot_be_run_is_told_at_once(self, dataset: Path, command: str, message: str) -> None:
        with pytest.raises(UserError, match=message):
            command_task(dataset, command, ())

    @pytest.mark.parametrize(
        ("command", "name"),
        [("echo hello", "echo"), ("python3 {0}/my_agent.py --fast", "my_agent"), ("cat -", "cat")],
    )
    def test_names_the_task(self, tmp_path: Path, command: str, name: str) -> None:
        (tmp_path / "my_agent.py").write_text("")
        assert CommandAgent(command.format(tmp_path)).name == name

    def test_and_its_files_make_the_fingerprint(self, tmp_path: Path) -> None:
        script = tmp_path / "agent.py"
        script.write_text("print(1)")
        command = f"python3 {script}"
        before = CommandAgent(command).fingerprint
        assert CommandAgent(command).fingerprint == before
        assert CommandAgent(f"{command} --fast").fingerprint != before
        script.write_text("print(2)")
        assert CommandAgent(command).fingerprint != before

    def test_is_the_same_task_for_other_rows(self, dataset: Path) -> None:
        tasks = [command_task(dataset, "cat", ()), command_task(dataset, "cat", (), limit=1, offset=0)]
        assert tasks[0].spec.fingerprint == tasks[1].spec.fingerprint


async def test_the_example_checks_its_own_answer() -> None:
    rows = [json.loads(line) for line in (EXAMPLES / "arithmetic.jsonl").read_text().splitlines()]
    answers = keyed_answers({row["user_prompt"]: row["ground_truth"] for row in rows})
    command = shlex.join([sys.executable, str(EXAMPLES / "command_agent.py")])
    ran = await run_trial(command_task(EXAMPLES / "arithmetic.jsonl", command, ()), Settings(answers=answers))
    assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "391")
    assert len(ran.record.requests) == 2
