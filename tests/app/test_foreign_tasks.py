"""`run inspect:TASK`: another program runs its task, asks the model through our relay, and its log becomes a run.

Here a small program stands in for Inspect: it takes the same arguments, asks as Inspect does and leaves a log of the
same form. tests/readers.py does it with Inspect itself.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.simulated import simulated_endpoint

STAND_IN = """#!{python}
import json, os, sys, time, urllib.request, uuid
arguments = sys.argv[1:]
given = dict(zip(arguments[2::1], arguments[3::1]))
if arguments[1] == "broken":
    sys.exit("no such task")
samples, model = [], given["--model"]
for number in range(int(given.get("--limit", 3))):
    label, question = uuid.uuid4().hex, f"What is {{number}}?"
    body = json.dumps({{"model": "x", "messages": [{{"role": "user", "content": question}}]}})
    headers = {{"Authorization": "Bearer " + os.environ["RELAY_API_KEY"], "x-irid": label}}
    began = time.time()
    request = urllib.request.Request(given["--model-base-url"] + "/chat/completions", body.encode(), headers)
    answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    call = {{"request": {{"extra_headers": {{"x-irid": label}}}}}}
    event = {{"event": "model", "model": model, "call": call, "uuid": "e", "working_time": 99.0, "output": {{}}}}
    right = answer["content"].endswith(str(number))
    samples.append({{
        "id": f"q{{number}}", "epoch": 1, "input": question, "target": str(number), "events": [event],
        "messages": [{{"role": "user", "content": question}}, answer], "output": {{"completion": answer["content"]}},
        "scores": {{"match": {{"value": "C" if right else "I"}}}}, "metadata": {{}},
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(began)),
    }})
about = {{"task": arguments[1], "model": model, "dataset": {{}}, "config": {{}}}}
about["created"] = "2026-11-23T10:00:00+00:00"
log = {{"version": 2, "status": "success", "eval": about, "samples": samples}}
with open(given["--log-dir"] + "/log.json", "w") as file:
    json.dump(log, file)
if arguments[1] == "slow":
    time.sleep(60)
if arguments[1] == "fails":
    sys.exit("it broke at the end")
"""


@pytest.fixture
def project(program: Program) -> Program:
    """A program with the stand-in on PATH."""
    place = program.directory / "bin"
    place.mkdir()
    (place / "inspect").write_text(STAND_IN.format(python=sys.executable))
    (place / "inspect").chmod(stat.S_IRWXU)
    program.environment["PATH"] = f"{place}:{os.environ['PATH']}"
    return program


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    key = [{"prompt": f"What is {number}?", "answer": str(number)} for number in range(5)]
    with simulated_endpoint("--accuracy", "1", answers=key) as found:
        yield found


def run(project: Program, url: str, task: str, *options: str) -> Any:
    return project.run("run", f"inspect:{task}", "--model", "org/m", "--base-url", url, *options)


def test_its_log_is_a_run_with_the_times_of_the_relay(project: Program, url: str) -> None:
    ended = run(project, url, "sums", "--json")
    assert ended.returncode == 0, ended.stderr
    (found,) = json.loads(ended.stdout)["runs"]
    (target,) = found["targets"]
    assert (target["model"], target["base_url"], found["kind"]) == ("org/m", url, "import")
    assert (target["scores"][0]["mean_scored"], target["trials"]) == (1.0, 3)
    assert found["simulated"] is True, "which only the relay can know"
    assert 0 < target["requests"]["latency_p50"] < 10, "and not what the log says"
    assert any("relay" in note for note in found["origin"]["notes"])


def test_options_reach_the_program(project: Program, url: str) -> None:
    found = json.loads(run(project, url, "sums", "--limit", "5", "--json").stdout)["runs"]
    assert found[0]["done"] == 5


def test_two_models_are_compared_by_sample(project: Program, url: str) -> None:
    ended = run(project, url, "sums", "--model", "org/n", "--json")
    first, second = (one["run"] for one in json.loads(ended.stdout)["runs"])
    compared = json.loads(project.run("compare", first, second, "--json").stdout)
    (pair,) = compared["pairs"]
    assert pair["scores"][0]["n"] == 3


def test_a_program_that_leaves_no_log_is_told_with_its_last_words(project: Program, url: str) -> None:
    ended = run(project, url, "broken")
    assert ended.returncode == 1
    assert "no such task" in ended.stderr


def test_a_program_that_fails_leaves_its_log_and_an_error(project: Program, url: str) -> None:
    ended = run(project, url, "fails")
    assert ended.returncode == 1
    assert "it broke at the end" in ended.stderr
    assert len(list((project.home / "runs").glob("2*"))) == 1


def test_ctrl_c_keeps_what_the_log_has(project: Program, url: str) -> None:
    started = project.start("run", "inspect:slow", "--model", "m", "--base-url", url)
    while not list(Path(project.directory, "results").rglob("log.json")):
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=20)
    assert started.returncode == 130, errors
    assert len(list((project.home / "runs").glob("2*"))) == 1


def test_a_program_that_is_not_there_is_told_with_what_installs_it(program: Program) -> None:
    program.environment["PATH"] = "/nowhere"
    ended = program.run("run", "lm-eval:gsm8k", "--model", "m", "--base-url", NOWHERE)
    assert ended.returncode == 1
    assert "pip install 'benchwright[lm-eval]'" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("inspect:sums", "mmlu"), "in commands of their own"),
        (("inspect:sums", "--where", "a=b"), "no option --where"),
        (("inspect:sums", "--until", "decided"), "no option --until"),
    ],
)
def test_what_it_cannot_do_is_refused(project: Program, arguments: tuple[str, ...], reason: str) -> None:
    ended = project.run("run", *arguments, "--model", "m", "--base-url", NOWHERE)
    assert ended.returncode == 2
    assert reason in ended.stderr
