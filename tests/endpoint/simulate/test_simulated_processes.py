"""`benchwright simulate`: one process or several, counted and stopped as one."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.endpoint.simulate import read_truth

COMMAND = [sys.executable, "-m", "benchwright", "simulate"]

Process = subprocess.Popen[str]
Start = Callable[..., tuple[Process, int]]
"""Starts the command with options; the process and its port. The fixture `command`."""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Start]:
    """Starts the command on a free port and returns (process, port)."""
    started: list[Process] = []

    def start(*options: str) -> tuple[Process, int]:
        port_file = tmp_path / f"port{len(started)}"
        process = subprocess.Popen(
            [*COMMAND, "--port", "0", "--port-file", str(port_file), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        wait_until(port_file.exists)
        return process, int(port_file.read_text())

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def ask(port: int, prompt: str = "one two", **fields: Any) -> tuple[int, Any]:
    """Asks over a connection of its own, so that the kernel picks a process anew."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        body = json.dumps({"messages": [{"role": "user", "content": prompt}], **fields})
        connection.request("POST", "/v1/chat/completions", body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def samples(port: int) -> dict[str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
        return dict(re.findall(r"^([^#\s]\S*) (\S+)$", page, re.MULTILINE))
    finally:
        connection.close()


def children(process: Process) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(child) for child in listed]


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("processes", ["1", "2"])
def test_one_line_says_where_it_is_and_that_it_is_no_model(command: Start, processes: str) -> None:
    process, port = command("--processes", processes)

    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == f"Simulated endpoint at http://127.0.0.1:{port}/v1 (answers are not from a model)\n"


@pytest.mark.parametrize("processes", ["1", "3"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_processes(command: Start, processes: str, number: signal.Signals) -> None:
    process, port = command("--processes", processes)
    assert ask(port)[0] == 200
    family = [process.pid, *children(process)]
    assert len(family) == (1 if processes == "1" else 4)
    process.send_signal(number)

    assert process.wait(10) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert not any(is_running(pid) for pid in family)


def test_processes_end_when_their_parent_is_killed(command: Start) -> None:
    process, _ = command("--processes", "2")
    family = children(process)
    process.kill()

    wait_until(lambda: not any(is_running(pid) for pid in family))


def test_the_command_fails_when_a_process_dies(command: Start) -> None:
    process, _ = command("--processes", "2")
    first, second = children(process)
    os.kill(first, signal.SIGKILL)

    assert process.wait(10) == 1
    assert process.stderr is not None
    assert "died" in process.stderr.read()
    assert not is_running(second)


def test_several_processes_count_and_log_as_one(command: Start, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    process, port = command("--processes", "3", "--log", str(log))
    for _ in range(40):
        ask(port)

    wait_until(lambda: samples(port)["benchwright_simulated_answered_total"] == "40")
    counted = samples(port)
    assert counted['vllm:generation_tokens_total{model_name="simulated"}'] == "80"
    process.terminate()
    process.wait(10)
    answered = [truth for truth in read_truth(log) if truth.path == "/v1/chat/completions"]
    assert len(answered) == 40
    assert len({truth.id for truth in answered}) == 40
    assert len({truth.id.partition("-")[0] for truth in answered}) > 1


def test_each_process_has_a_cache_of_its_own_and_the_metrics_have_the_sum(
    command: Start, tmp_path: Path
) -> None:
    log = tmp_path / "truth.jsonl"
    options = ("--cache-blocks", "100", "--block-size", "8", "--prefill", "1000", "--log", str(log))
    process, port = command("--workers", "3", *options)
    prompt = " ".join(f"word{number}" for number in range(20))
    for _ in range(30):
        ask(port, prompt, max_tokens=1)
    label = '{model_name="simulated"}'
    wait_until(lambda: samples(port)["benchwright_simulated_answered_total"] == "30")
    counted = samples(port)
    process.terminate()
    process.wait(10)
    answered = [truth for truth in read_truth(log) if truth.path == "/v1/chat/completions"]
    cold = [truth.id.partition("-")[0] for truth in answered if truth.cached_tokens == 0]
    assert sorted(cold) == sorted({truth.id.partition("-")[0] for truth in answered}), "once in each process"
    assert counted["vllm:prefix_cache_queries_total" + label] == "600"
    assert counted["vllm:prefix_cache_hits_total" + label] == str(16 * (30 - len(cold)))
    assert counted["vllm:kv_cache_usage_perc" + label] == "0.0"
    took = {truth.cached_tokens: truth.prefill_end - truth.prefill_start for truth in answered}
    assert took == {0: 20_000_000, 16: 4_000_000}


def test_a_cache_may_be_asked_for_in_the_old_way(command: Start) -> None:
    _, port = command("--prefix-cache")
    prompt = "word " * 40
    usages = [ask(port, prompt)[1]["usage"] for _ in range(2)]
    assert [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages] == [0, 32]


def test_accuracy_and_the_bound_of_faults_hold_across_processes(command: Start, tmp_path: Path) -> None:
    key = {f"question {number}?": str(number) for number in range(30)}
    path = tmp_path / "key.jsonl"
    path.write_text("".join(json.dumps({"prompt": prompt, "answer": key[prompt]}) + "\n" for prompt in key))
    _, port = command(
        *("--processes", "3", "--answers", str(path), "--accuracy", "0.4"),
        *("--fault", "server_error=0.5", "--max-faults", "9"),
    )

    def answer(prompt: str) -> str:
        while (reply := ask(port, prompt))[0] != 200:
            pass
        content: str = reply[1]["choices"][0]["message"]["content"]
        return content

    for _ in range(2):
        assert sum(answer(prompt) == right for prompt, right in key.items()) == 12
    faults = {name: int(value) for name, value in samples(port).items() if "faults_total" in name}
    assert sum(faults.values()) == 9


def test_options_reach_the_answers(command: Start) -> None:
    _, port = command(
        *("--model", "small", "--policy", "words", "--words", "5", "--reasoning", "well", "--seed", "3"),
        *("--first-token", "uniform:5", "--between-tokens", "lognormal:1:0.2", "--split"),
        *("--tool-calls", '[{"name": "f", "arguments": {"a": 1}}]'),
    )

    status, answer = ask(port, model="small")
    assert status == 200
    assert len(answer["choices"][0]["message"]["content"].split()) == 5
    assert answer["choices"][0]["message"]["reasoning_content"] == "well"
    tools = [{"type": "function", "function": {"name": "f"}}]
    call = ask(port, model="small", tools=tools)[1]["choices"][0]["message"]["tool_calls"][0]["function"]
    assert call == {"name": "f", "arguments": '{"a":1}'}
    assert ask(port, model="large")[0] == 404


def test_a_quirk_is_given_as_a_fault_and_counted_as_one(command: Start) -> None:
    _, port = command("--fault", "thinking_in_total=1", "--max-faults", "2")

    usages = [ask(port, "Good day.")[1]["usage"] for _ in range(3)]
    hidden = [usage["total_tokens"] - usage["prompt_tokens"] - usage["completion_tokens"] for usage in usages]
    assert hidden == [100, 100, 0]
    assert samples(port)['benchwright_simulated_faults_total{kind="thinking_in_total"}'] == "2"


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        (["--fault", "fire=0.1"], 2, "fire"),
        (["--fault", "same_indes=0.1"], 2, "same_index"),
        (["--fault", "reset=often"], 2, "reset=often"),
        (["--tool-calls", "{"], 2, "--tool-calls"),
        (["--fault", "reset=2"], 1, "reset"),
        (["--first-token", "soon"], 1, "soon"),
        (["--block-size", "32"], 1, "--cache-blocks"),
        (["--prefill", "0"], 1, "above 0"),
        (["--answers", "missing.jsonl"], 1, "missing.jsonl"),
        (["--log", "/nowhere/log.jsonl"], 1, "/nowhere/log.jsonl"),
        (["--port-file", "/nowhere/port"], 1, "/nowhere/port"),
        (["--host", "192.0.2.1"], 1, "192.0.2.1"),
    ],
)
def test_a_bad_option_is_one_clear_line(options: list[str], code: int, named: str) -> None:
    result = subprocess.run(
        [*COMMAND, "--port", "0", *options], capture_output=True, text=True, timeout=20, check=False
    )

    assert result.returncode == code
    assert named in result.stderr
    assert "Traceback" not in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--log", "/nowhere/log.jsonl"], ["--port-file", "/nowhere/port"]])
def test_a_bad_option_leaves_no_process_behind(options: list[str]) -> None:
    command = [*COMMAND, "--port", "0", "--processes", "2", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, errors = process.communicate(timeout=20)  # ends only when nobody holds the pipes any more

    assert process.returncode == 1
    assert options[1] in errors
