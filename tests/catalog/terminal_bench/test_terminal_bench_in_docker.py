"""Tasks of both layouts in real containers: who solves what, what counts, and what is left when things go wrong."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.containers.running import Played, bash, played, says
from tests.catalog.containers.workshop import WORKSHOP
from tests.catalog.terminal_bench.terminal_kit import (
    DOCKERFILE,
    RUN_PYTEST,
    RUN_TESTS,
    SOLVE_HELLO,
    TEST_HELLO,
    first,
    harbor,
    official_harbor,
    source,
    write_first,
    write_harbor,
)
from tests.sandbox.docker.stand_ins import containers, docker

from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH_1
from benchwright.catalog.validation import validate_benchmark
from benchwright.records import Status
from benchwright.sandbox.docker.ownership import PROCESS_LABEL, unique_process_id

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_left")]


def calls(*commands: str) -> list[dict[str, Any]]:
    """Answers that give one command each by a tool call."""
    functions = [{"name": "bash", "arguments": json.dumps({"command": command})} for command in commands]
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": one}],
        }
        for one in functions
    ]


def by_tools(prompt: str, *commands: str) -> dict[str, Any]:
    """A script of a model that calls its tool, and then is done."""
    return {"prompt": prompt, "replies": [*calls(*commands), {"role": "assistant", "content": "Done."}]}


def by_fences(prompt: str, *commands: str) -> dict[str, Any]:
    """A script of a model that writes fenced blocks, and then is done."""
    return says(prompt, *map(bash, commands), "Done.")


def results(ended: Played) -> dict[str, float | str | None]:
    """The scores by sample; the reason where there is none."""
    return {
        sample: ended.score(sample).value if trial.scores else trial.record.reason
        for sample, trial in ended.trials.items()
    }


def status(ended: Played, sample: str = "hello-world") -> Status:
    """How a trial ended."""
    return ended.trials[sample].record.status


async def test_what_models_do_in_the_container_of_a_harbor_task_decides_the_score(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    for name in ("by-tools", "by-fences", "wrong", "idle"):
        write_harbor(tasks, name, instruction=f"Task {name}: greet the world in hello.txt.")
    scripts = [
        by_tools("Task by-tools", "cd /; export TEXT='Hello, world!'", 'cd /app; echo "$TEXT" > hello.txt'),
        by_fences("Task by-fences", "ls", SOLVE_HELLO),
        by_tools("Task wrong", "echo Bye > hello.txt"),
        by_fences("Task idle"),
    ]
    ended = await played(harbor(), source(tasks), tmp_path, scripts)
    assert results(ended) == {
        "by-tools": 1.0,
        "by-fences": 1.0,
        "wrong": 0.0,
        "idle": 0.0,
    }
    assert {trial.record.status for trial in ended.trials.values()} == {Status.ANSWERED}


async def test_what_models_do_in_the_container_of_a_task_of_1_0_decides_the_score(tmp_path: Path) -> None:
    for name in ("tbtest-tools", "tbtest-wrong"):
        write_first(tmp_path / "data", name, instruction=f"Task {name}: greet the world in hello.txt.")
    scripts = [
        by_fences("Task tbtest-tools", "pwd", SOLVE_HELLO),
        by_fences("Task tbtest-wrong", "echo Bye > hello.txt"),
    ]
    ended = await played(
        first(commands="fences"), source(tmp_path / "data", TERMINAL_BENCH_1), tmp_path, scripts
    )
    assert results(ended) == {"tbtest-tools": 1.0, "tbtest-wrong": 0.0}
    assert ended.detail("tbtest-wrong")["tests"] == {"test_says_hello": "failed"}


async def test_the_transcript_and_the_tests_log_are_in_the_record(tmp_path: Path) -> None:
    write_harbor(tmp_path / "tasks", test="#!/bin/bash\necho tested\necho 1 > /logs/verifier/reward.txt\n")
    scripts = [by_tools("Write", "echo out; echo err >&2; exit 3")]
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, scripts)
    artifacts = ended.artifacts("hello-world")
    (command,) = artifacts["commands"]
    assert (command["command"], command["output"], command["exit_code"]) == (
        "echo out; echo err >&2; exit 3",
        "out\nerr\n",
        3,
    )
    assert artifacts["tests"]["log"] == "tested\n"


@pytest.mark.parametrize("layout", ["2.0", "1.0"])
async def test_a_tasks_own_solution_passes_its_tests_and_nothing_does_not(
    tmp_path: Path, layout: str
) -> None:
    if layout == "2.0":
        write_harbor(tmp_path)
        validated = await validate_benchmark(harbor(), source(tmp_path))
    else:
        write_first(tmp_path, "tbtest-pytest", test=RUN_PYTEST, outputs=TEST_HELLO)
        validated = await validate_benchmark(first(), source(tmp_path, TERMINAL_BENCH_1))
    assert (validated.checks, validated.failures) == (2, [])


async def test_a_solution_of_typed_commands_is_typed_into_one_terminal(tmp_path: Path) -> None:
    commands = [{"command": "cd /app", "block": True}, {"command": "echo 'Hello, world!' > hello.txt"}]
    write_first(tmp_path, "tbtest-typed", files={"solution.sh": None, "solution.yaml": json.dumps(commands)})
    validated = await validate_benchmark(first(), source(tmp_path, TERMINAL_BENCH_1))
    assert validated.failures == []


async def test_a_wrong_solution_and_tests_that_pass_for_nothing_are_found(tmp_path: Path) -> None:
    write_harbor(tmp_path, "a", solution="echo Bye > hello.txt")
    write_harbor(tmp_path, "b", test="#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    validated = await validate_benchmark(harbor(), source(tmp_path))
    assert {failure.check for failure in validated.failures} == {"a/gold", "b/nothing done"}


async def test_a_solution_may_take_longer_than_a_command(tmp_path: Path) -> None:
    write_harbor(tmp_path, solution=f"sleep 3; {SOLVE_HELLO}", sections={"agent": "timeout_sec = 20.0"})
    validated = await validate_benchmark(harbor(command_seconds="2"), source(tmp_path))
    assert validated.failures == []


async def test_solutions_and_tests_are_not_there_while_the_model_works(tmp_path: Path) -> None:
    tasks, run = tmp_path / "tasks", tmp_path / "runs"
    write_harbor(
        tasks,
        test="#!/bin/sh\nif [ -e /app/seen ]; then echo 0; else echo 1; fi > /logs/verifier/reward.txt\n",
    )
    look = "for one in /tests /solution /oracle; do [ -e $one ] && touch /app/seen; done; ls /"
    ended = await played(harbor(), source(tasks), run, [by_tools("Write", look)])
    assert results(ended)["hello-world"] == 1.0


async def test_rewards_and_tests_that_the_model_laid_there_do_not_count(tmp_path: Path) -> None:
    plant = (
        "echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json; "
        "mkdir /tests; echo 'raise SystemExit(0)' > /tests/conftest.py; ln -s /logs/verifier/reward.txt /tests/test.sh"
    )
    write_harbor(tmp_path / "tasks", test="#!/bin/sh\nls /tests; cat /logs/verifier/*\n")
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, [by_tools("Write", plant)])
    assert (results(ended)["hello-world"], ended.detail("hello-world")["error"]) == (
        0.0,
        "the tests wrote no reward",
    )


FORGING_HEAD = "printf '#!/bin/sh\\necho 1\\n' > /tmp/forged; chmod +x /tmp/forged"
GIVES_0 = "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n"


async def test_a_reward_is_read_by_no_program_of_the_container(tmp_path: Path) -> None:
    write_harbor(tmp_path / "tasks", test=GIVES_0)
    everywhere = "for name in head cat tar; do cp /tmp/forged $(command -v $name); done"
    scripts = [by_tools("Write", FORGING_HEAD, everywhere)]
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, scripts)
    assert results(ended) == {"hello-world": 0.0}
    assert ended.detail("hello-world")["reward"] == 0.0


async def test_a_reward_that_was_there_before_the_tests_is_none_even_if_it_cannot_be_removed(
    tmp_path: Path,
) -> None:
    write_harbor(tmp_path / "tasks", test="#!/bin/bash\nexit 1\n")
    forged = "cd /logs/verifier; echo 1 > reward.txt; echo '{\"reward\": 1}' > reward.json"
    scripts = [by_tools("Write", forged, FORGING_HEAD, "cp /tmp/forged $(command -v rm)")]
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, scripts)
    assert results(ended) == {"hello-world": 0.0}
    assert ended.detail("hello-world")["mode"] == "no_reward"


async def test_a_model_that_destroys_its_container_has_failed_the_task(tmp_path: Path) -> None:
    write_harbor(tmp_path / "tasks")
    scripts = [by_tools("Write", "rm -rf /usr /sbin /lib /bin")]
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, scripts)
    assert results(ended) == {"hello-world": 0.0}
    assert ended.detail("hello-world")["failure_mode"] == "container_destroyed"
    assert "no program can be started" in ended.detail("hello-world")["error"]


async def test_tests_that_could_not_be_installed_say_nothing_about_the_answer(tmp_path: Path) -> None:
    fetch = "echo 'curl: (6) Could not resolve host: packages.example' >&2"
    write_harbor(tmp_path / "tasks", test=f"#!/bin/bash\n{fetch}\necho 0 > /logs/verifier/reward.txt\n")
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, [by_tools("Write", SOLVE_HELLO)])
    assert status(ended) is Status.EXECUTION_ERROR
    reason = ended.trials["hello-world"].record.reason
    assert reason is not None
    assert "curl: (6) Could not resolve host: packages.example" in reason
    assert "--retry-failed" in reason


async def test_a_model_out_of_time_may_still_have_solved_its_task(tmp_path: Path) -> None:
    stubborn = f"{SOLVE_HELLO}; trap '' TERM; while :; do sleep 1; done"
    write_harbor(tmp_path / "tasks", sections={"agent": "timeout_sec = 2.0"})
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, [by_tools("Write", stubborn)])
    assert (status(ended), results(ended)["hello-world"]) == (Status.LIMIT, 1.0)
    assert ended.detail("hello-world")["failure_mode"] == "agent_limit"


async def test_tests_out_of_time_are_worth_nothing(tmp_path: Path) -> None:
    slow = "#!/bin/bash\ntrap '' TERM\necho 1 > /logs/verifier/reward.txt\nwhile :; do sleep 1; done\n"
    write_harbor(tmp_path / "tasks", test=slow, sections={"verifier": "timeout_sec = 1.0"})
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, [by_tools("Write", "true")])
    assert results(ended)["hello-world"] == 0.0
    assert ended.detail("hello-world")["failure_mode"] == "test_timeout"


async def test_what_asks_for_too_much_ends_and_the_rest_of_the_work_counts(tmp_path: Path) -> None:
    faults = {
        "output": "yes",
        "memory": "tail /dev/zero",
        "killed": "kill -9 -1",
    }
    tasks = tmp_path / "tasks"
    for name in faults:
        write_harbor(tasks, name, instruction=f"Fault {name}.")
    scripts = [by_tools(f"Fault {name}.", command, SOLVE_HELLO) for name, command in faults.items()]
    ended = await played(harbor(command_seconds="10"), source(tasks), tmp_path, scripts)
    assert results(ended) == dict.fromkeys(faults, 1.0)
    assert {name: ended.artifacts(name)["commands"][0]["ended"] for name in ("output", "memory")} == {
        "output": "output",
        "memory": "memory",
    }


async def test_a_model_that_fills_the_disk_loses_its_container_and_its_work(tmp_path: Path) -> None:
    write_harbor(tmp_path / "tasks")
    filler = f"{SOLVE_HELLO}; for i in 1 2 3; do head -c 40000000 /dev/urandom > /app/$i; done; sleep 30"
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, [by_tools("Write", filler)])
    assert (status(ended), results(ended)["hello-world"]) == (Status.LIMIT, 0.0)
    assert "disk" in ended.detail("hello-world")["error"]


async def test_a_container_that_somebody_else_kills_is_no_wrong_answer(tmp_path: Path) -> None:
    write_harbor(tmp_path / "tasks")
    slow = [by_tools("Write", "touch /tmp/started; sleep 60")]
    running = asyncio.ensure_future(played(harbor(), source(tmp_path / "tasks"), tmp_path, slow))
    container = await asyncio.to_thread(started_container)
    await asyncio.to_thread(docker, "kill", container)
    ended = await running
    assert status(ended) == Status.EXECUTION_ERROR
    assert ended.trials["hello-world"].scores == {}


async def test_a_key_that_is_not_supported_fails_its_own_sample_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    write_harbor(tmp_path / "tasks", "gpu", instruction="Needs a GPU.")
    write_harbor(tmp_path / "tasks", "plain", instruction="Needs none.")
    with (tmp_path / "tasks" / "gpu" / "task.toml").open("a") as file:
        file.write("[environment.tpu]\ntype = 'v6e'\ntopology = '2x4'\n")
    scripts = [by_tools("Needs", SOLVE_HELLO)]
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path, scripts)
    gpu = ended.trials["gpu"].record
    assert (gpu.status, len(gpu.requests)) == (Status.EXECUTION_ERROR, 0)
    assert gpu.reason is not None
    assert "[environment] tpu" in gpu.reason
    assert results(ended)["plain"] == 1.0


async def test_the_network_is_closed_where_the_task_says_so_and_open_where_it_does_not(
    tmp_path: Path,
) -> None:
    look = (
        "#!/bin/sh\nif [ -e /sys/class/net/eth0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    )
    for name, line in (
        ("open", "allow_internet = true"),
        ("silent", ""),
        ("closed", "allow_internet = false"),
    ):
        environment = f'docker_image = "{WORKSHOP}"\nmemory = "256M"\nstorage = "64M"\n{line}'
        write_harbor(tmp_path / "tasks", name, test=look, sections={"environment": environment})
    tasks = source(tmp_path / "tasks")
    ended = await played(official_harbor(), tasks, tmp_path)
    assert results(ended) == {"open": 1.0, "silent": 1.0, "closed": 0.0}
    shut = await played(official_harbor(network="none"), tasks, tmp_path)
    assert results(shut) == {"open": 0.0, "silent": 0.0, "closed": 0.0}


async def test_an_image_that_cannot_be_pulled_is_built(tmp_path: Path) -> None:
    dockerfile = f"FROM {WORKSHOP}\nWORKDIR /app\nRUN echo 'Hello, world!' > hello.txt\n"
    environment = 'docker_image = "benchwright-stand-in/not-there:1"\nmemory = "256M"\nstorage = "64M"'
    write_harbor(
        tmp_path / "tasks",
        "tbtest-built",
        sections={"environment": environment},
        files={"environment/Dockerfile": dockerfile},
    )
    ended = await played(harbor(), source(tmp_path / "tasks"), tmp_path)
    assert results(ended) == {"tbtest-built": 1.0}


async def test_services_of_a_compose_file_are_reached_by_name_and_gone_in_the_end(tmp_path: Path) -> None:
    compose = {
        "services": {
            "client": {"build": {"context": "client"}, "command": "sleep infinity", "depends_on": ["web"]},
            "web": {
                "image": WORKSHOP,
                "command": ["sh", "-c", "mkdir w; echo $$WORD > w/index.html; exec httpd -f -p 8000 -h w"],
                "environment": {"WORD": "Hello, world!"},
            },
        }
    }
    write_first(
        tmp_path / "data",
        "tbtest-services",
        compose=json.dumps(compose),
        files={"client/Dockerfile": DOCKERFILE},
        test=RUN_TESTS.replace("$TEST_DIR/", ""),
    )
    ask = "for i in 1 2 3 4 5; do wget -q -O hello.txt http://web:8000/index.html && break; sleep 1; done"
    ended = await played(
        first(), source(tmp_path / "data", TERMINAL_BENCH_1), tmp_path, [by_tools("Write", ask)]
    )
    assert results(ended) == {"tbtest-services": 1.0}, ended.artifacts("tbtest-services")


async def test_tests_in_the_same_shell_find_its_directory_and_variables(tmp_path: Path) -> None:
    check = 'if [ "$PWD $WORD" = "/app/deep yes" ]; then word=PASSED; else word=FAILED; fi\n'
    report = 'echo "== short test summary info =="; echo "$word t.py::test_shell"\n'
    write_first(
        tmp_path / "data", "tbtest-shell", test=check + report, task={"run_tests_in_same_shell": True}
    )
    work = by_tools("Write", "mkdir deep; cd deep; export WORD=yes")
    ended = await played(first(), source(tmp_path / "data", TERMINAL_BENCH_1), tmp_path, [work])
    assert results(ended) == {"tbtest-shell": 1.0}


async def test_the_model_works_as_the_images_user_and_the_tests_as_root(tmp_path: Path) -> None:
    users = 'if [ "$(cat user) $(id -u)" = "65534 0" ]; then word=PASSED; else word=FAILED; fi\n'
    report = 'echo "== short test summary info =="; echo "$word t.py::test_users"\n'
    write_first(
        tmp_path / "data",
        "tbtest-user",
        files={"Dockerfile": f"{DOCKERFILE}RUN chmod 777 /app\nUSER nobody\n"},
        test=users + report,
    )
    work = by_tools("Write", "id -u > user")
    ended = await played(first(), source(tmp_path / "data", TERMINAL_BENCH_1), tmp_path, [work])
    assert results(ended) == {"tbtest-user": 1.0}


async def test_what_an_image_starts_runs_beside_the_model(tmp_path: Path) -> None:
    dockerfile = (
        f'FROM {WORKSHOP}\nWORKDIR /app\nENTRYPOINT ["sh", "-c", "echo $0 $* > began; exec sleep 60"]\n'
    )
    write_first(
        tmp_path / "data",
        "tbtest-entrypoint",
        files={"Dockerfile": dockerfile},
        test=RUN_TESTS.replace("hello.txt", "began").replace("Hello, world!", "sh -c sleep infinity"),
    )
    ended = await played(
        first(), source(tmp_path / "data", TERMINAL_BENCH_1), tmp_path, [by_tools("Write", "sleep 1")]
    )
    assert results(ended) == {"tbtest-entrypoint": 1.0}


def started_container() -> str:
    """The container of this process in which the model's first command runs."""
    for _ in range(200):
        for name in containers(f"{PROCESS_LABEL}={unique_process_id()}"):
            found = subprocess.run(
                ["docker", "exec", name, "test", "-e", "/tmp/started"], capture_output=True
            )
            if found.returncode == 0:
                return name
        time.sleep(0.1)
    raise AssertionError("no command was started")
