"""Tasks in Harbor's format in real containers: separate verifiers, artifacts, steps, health checks, users, networks."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark
from tests.catalog.containers.running import Played
from tests.catalog.containers.workshop import WORKSHOP
from tests.catalog.harbor.harbor_kit import run, script, source, write_task
from tests.sandbox.docker.stand_ins import IMAGE as BUSYBOX

from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.containers.sealing.canaries import UNTESTED_PASS_FLAG
from benchwright.catalog.harbor.sealed_testing import EARLY_END_FLAG, SEALED_DEPARTURE
from benchwright.catalog.validation import validate_benchmark
from benchwright.records import Status

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.usefixtures("nothing_left")]

SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'
HELLO = "echo hello > /app/hello.txt"

FORGE = """\
printf '#!/bin/sh\\nexit 0\\n' > /bin/grep; mkdir -p /logs/verifier /tests
echo 1 > /logs/verifier/reward.txt; printf 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh
(while :; do echo 1 > /tmp/1; mv /tmp/1 /logs/verifier/reward.txt; sleep 0.05; done) >/dev/null 2>&1 &
"""
"""An agent that changes a tool of the tests, lays a reward and tests before, and goes on writing rewards."""


INTERFACES = "echo interfaces: $(ls /sys/class/net | wc -l)"
"""A loopback is one."""


def reward(test: str) -> str:
    """A script of tests whose reward is 1 where a shell's condition holds."""
    return f"#!/bin/bash\nif {test}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


def steps(**lines: str) -> str:
    """`[[steps]]`, each with further lines."""
    return "".join(f'[[steps]]\nname = "{name}"\n{more}\n' for name, more in lines.items())


def brought(ended: Played, sample: str) -> dict[str, dict[str, Any]]:
    """What was brought to the tests of a sample, by its place."""
    return {one["source"]: one for one in ended.artifacts(sample)["brought"]}


async def test_tests_in_a_container_of_their_own_see_artifacts_and_nothing_else_that_an_agent_did(
    tmp_path: Path,
) -> None:
    tasks = tmp_path / "tasks"
    for name in ("right", "forged"):
        write_task(tasks, name, SEPARATE, before='artifacts = ["/app/hello.txt"]')
    ended = await run(tasks, tmp_path, script("Task right", HELLO), script("Task forged", FORGE))
    assert ended.values == {"right": 1.0, "forged": 0.0}
    assert brought(ended, "right")["/app/hello.txt"] == {"source": "/app/hello.txt", "files": 1}
    assert brought(ended, "forged")["/app/hello.txt"] == {"source": "/app/hello.txt", "missing": True}


@pytest.mark.parametrize(("sealed", "score"), [(False, 1.0), (True, 0.0)])
async def test_in_the_agents_container_the_same_agent_would_pass_without_a_seal(
    tmp_path: Path, sealed: bool, score: float
) -> None:
    write_task(tmp_path / "tasks", "forged")
    ended = await run(tmp_path / "tasks", tmp_path, script("Task forged", FORGE), sealed=sealed)
    assert ended.values == {"forged": score}


async def test_folders_come_whole_but_for_what_is_excluded_special_or_leads_out(tmp_path: Path) -> None:
    write_task(
        tmp_path / "tasks",
        "folder",
        f'{SEPARATE}user = "1000"\n',
        before='artifacts = [{source = "/app/out", exclude = ["*.log", "cache"]}]',
        files={
            "tests/test.sh": reward(
                'cd /app/out && [ "$(find . | sort | tr "\\n" " ")" = ". ./a ./a/data ./a/link ./a/same " ]'
                ' && [ "$(stat -c %a a/data)" = 755 ] && [ "$(cat a/link a/same)" = "$(printf "x\\nx")" ]'
                ' && [ "$(cat /logs/artifacts/said)" = published ] && [ "$(id -u)" = 1000 ]'
            )
        },
    )
    work = (
        "mkdir -p /app/out/a/cache; cd /app/out/a; echo x > data; chmod 4755 data; ln -s data link; ln data same\n"
        "echo x > cache/x; echo x > run.log; ln -s /etc/passwd out; ln -s ../../../etc up; mkfifo pipe\n"
        "echo published > /logs/artifacts/said"
    )
    ended = await run(tmp_path / "tasks", tmp_path, script("Task folder", work))
    assert brought(ended, "folder")["/app/out"] == {"source": "/app/out", "files": 3, "refused": 3}
    assert ended.values == {"folder": 1.0}, ended.artifacts("folder")["tests"]["log"]


async def test_an_image_that_brings_the_tests_is_built_from_their_folder(tmp_path: Path) -> None:
    write_task(
        tmp_path / "tasks",
        "hbtest-own",
        SEPARATE,
        before='artifacts = ["/app/hello.txt"]',
        files={
            "tests/Dockerfile": f"FROM {WORKSHOP}\nRUN mkdir /app\nCOPY . /tests/\n",
            "tests/test.sh": "#!/bin/bash\n[ -e /tests/Dockerfile ] && grep -q hello /app/hello.txt"
            " && echo 1 > /logs/verifier/reward.txt\n",
        },
    )
    validated = await validate_benchmark(
        benchmark(f"harbor:{tmp_path / 'tasks'}"), source(tmp_path / "tasks")
    )
    assert (validated.checks, validated.failures) == (2, [])


async def test_steps_are_prepared_worked_on_and_tested_one_after_the_other(tmp_path: Path) -> None:
    write_task(
        tmp_path / "tasks",
        "two",
        steps(
            one="min_reward = 1.0",
            two="[steps.agent]\nuser = 1000\n[steps.healthcheck]\ncommand = 'test -e set-up'",
        ),
        files={
            "steps/one/instruction.md": "Task one: write hello.\n",
            "steps/two/instruction.md": "Task two: go on.\n",
            "steps/two/workdir/given": "given\n",
            "steps/two/workdir/setup.sh": "[ -e /tests ] || { cd /tmp; touch /app/set-up; }\n",
            "steps/two/tests/test.sh": reward(
                '[ "$(cat /app/second)" = "1000 /app given" ] && [ -e /tests/shared ]'
            ),
            "steps/one/solution/solve.sh": f"#!/bin/bash\nchmod 777 /app; {HELLO}\n",
            "steps/two/solution/solve.sh": '#!/bin/bash\necho "$(id -u) $PWD $(cat given)" > /app/second\n',
            "tests/shared": "",
        },
    )
    tasks = tmp_path / "tasks"
    assert (await validate_benchmark(benchmark(f"harbor:{tasks}"), source(tasks))).failures == []
    look = "ls -a /tests /logs/verifier 2>&1 | grep -c -e shared -e reward; echo $STAYS; cat hello.txt"
    ended = await run(
        tasks,
        tmp_path,
        script("Task one", f"chmod 777 /app; {HELLO}; export STAYS=stays"),
        script("Task two", look),
    )
    assert ended.values == {"two": 0.5}, "the mean of both"
    assert ended.detail("two")["steps"] == [
        {"name": "one", "rewards": {"reward": 1.0}},
        {"name": "two", "rewards": {"reward": 0.0}},
    ]
    seen = ended.artifacts("two")["commands"][-1]["output"]
    assert seen == "0\n\nhello\n", "no tests, no rewards and no shell of the first step, but its files"


async def test_a_step_that_falls_short_is_the_last(tmp_path: Path) -> None:
    files = {f"steps/{name}/instruction.md": f"Task {name}.\n" for name in ("one", "two")}
    write_task(tmp_path / "tasks", "two", steps(one="min_reward = 0.5", two=""), files=files)
    ended = await run(tmp_path / "tasks", tmp_path, script("Task one"), script("Task two", HELLO))
    assert ended.values == {"two": 0.0}
    assert [step["name"] for step in ended.detail("two")["steps"]] == ["one"]
    assert len(ended.trials["two"].record.requests) == 1


IMPORTS_ANSWER = """\
import sys
sys.path.insert(0, "/app")
def test_answer():
    import answer
    assert answer.get() == 42
"""
RUNS_PYTEST = """\
#!/bin/bash
python -m pytest -p no:cacheprovider /tests/test_answer.py
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
ANSWERS = {
    "right": ("return 42", ""),
    "ends": ("import os; os._exit(0)", UNTESTED_PASS_FLAG),
    "forges": ("import os; os.write(2, b'=== 1 passed in 0.02s ==='); os._exit(0)", UNTESTED_PASS_FLAG),
    "kills": (
        "import os; open('/logs/verifier/reward.txt', 'w').write('1'); os.kill(os.getppid(), 9); os._exit(0)",
        EARLY_END_FLAG,
    ),
}
"""What the function of an answer does, and the flag of its pass."""


@pytest.mark.parametrize(
    "tests_in_image", [False, True], ids=["tests copied in", "tests built into the image"]
)
async def test_a_pass_that_no_test_has_made_has_a_flag_where_tests_have_a_container_of_their_own(
    tmp_path: Path, tests_in_image: bool
) -> None:
    files = {"tests/test.sh": RUNS_PYTEST, "tests/test_answer.py": IMPORTS_ANSWER}
    if tests_in_image:
        files["tests/Dockerfile"] = f"FROM {WORKSHOP}\nWORKDIR /app\nCOPY . /tests\n"
    for name in ANSWERS:
        write_task(tmp_path / "tasks", name, SEPARATE, before='artifacts = ["/app/answer.py"]', files=files)
    scripts = [
        script(f"Task {name}", f"echo {shlex.quote(f'def get(): {body}')} > /app/answer.py")
        for name, (body, _) in ANSWERS.items()
    ]
    ended = await run(tmp_path / "tasks", tmp_path, *scripts)
    assert ended.values == dict.fromkeys(ANSWERS, 1.0)
    found = {name: ",".join(flag["kind"] for flag in ended.detail(name).get("flags", ())) for name in ANSWERS}
    assert found == {name: flag for name, (_, flag) in ANSWERS.items()}


async def test_steps_with_verifiers_of_their_own_go_on_in_the_agents_container(tmp_path: Path) -> None:
    files = {f"steps/{name}/instruction.md": f"Task {name}.\n" for name in ("one", "two")}
    write_task(
        tmp_path / "tasks",
        "two",
        SEPARATE + steps(one="", two="artifacts = ['/app/more.txt']"),
        before="artifacts = ['/app/hello.txt']\nmulti_step_reward_strategy = 'final'",
        files={**files, "steps/two/tests/test.sh": reward("cmp /app/hello.txt /app/more.txt")},
    )
    scripts = script("Task one", HELLO), script("Task two", "cp hello.txt more.txt")
    ended = await run(tmp_path / "tasks", tmp_path, *scripts, containers="1")
    assert ended.values == {"two": 1.0}
    assert [step["rewards"] for step in ended.detail("two")["steps"]] == [{"reward": 1.0}] * 2


async def test_an_agent_begins_when_the_health_check_succeeds_and_not_where_it_never_does(
    tmp_path: Path,
) -> None:
    health = "[environment.healthcheck]\ninterval_sec = 0.1\nretries = 3\ncommand = '''{}'''\n"
    write_task(
        tmp_path / "tasks", "soon", health.format("echo x >> /n; test $(wc -l < /n) = 3 && touch /ready")
    )
    write_task(tmp_path / "tasks", "never", health.format("echo no luck; false"))
    scripts = script("Task soon", f"test -e /ready && {HELLO}"), script("Task never", HELLO)
    ended = await run(tmp_path / "tasks", tmp_path, *scripts)
    never = ended.trials["never"].record
    assert (never.status, len(never.requests)) == (Status.EXECUTION_ERROR, 0)
    assert never.reason == "the health check 'echo no luck; false' failed: exited 1 no luck"
    assert ended.score("soon").value == 1.0


async def test_agent_and_tests_are_the_users_that_the_file_names(tmp_path: Path) -> None:
    write_task(
        tmp_path / "tasks",
        "users",
        "[agent]\nuser = 1001\n[verifier]\nuser = '1002'\n",
        files={"tests/test.sh": reward('[ "$(stat -c %u /tmp/mine)-$(id -u)" = 1001-1002 ]')},
    )
    ended = await run(tmp_path / "tasks", tmp_path, script("Task users", "touch /tmp/mine"))
    assert ended.values == {"users": 1.0}


@pytest.mark.parametrize(
    ("environment", "agent", "tests"), [("no-network", True, False), ("public", False, True)]
)
async def test_agent_and_tests_have_the_networks_that_the_file_gives_them(
    tmp_path: Path, environment: str, agent: bool, tests: bool
) -> None:
    mode = {True: "public", False: "no-network"}
    folder = write_task(
        tmp_path / "tasks",
        "net",
        f'[agent]\nnetwork_mode = "{mode[agent]}"\n[verifier]\nnetwork_mode = "{mode[tests]}"\n',
        files={"tests/test.sh": f"#!/bin/bash\n{INTERFACES}\necho 1 > /logs/verifier/reward.txt\n"},
    )
    toml = folder / "task.toml"
    toml.write_text(toml.read_text().replace('"no-network"', f'"{environment}"', 1))
    work = script("Task net", f"{INTERFACES}; cat /etc/hosts")
    ended = await run(tmp_path / "tasks", tmp_path, work, sealed=False)
    seen = ended.artifacts("net")
    assert seen["commands"][0]["output"].startswith(f"interfaces: {1 + agent}\n")
    assert "localhost" in seen["commands"][0]["output"]
    assert seen["tests"]["log"] == f"interfaces: {1 + tests}\n"


async def test_what_other_containers_know_is_collected_when_the_agents_is_gone(tmp_path: Path) -> None:
    compose = (
        f"services:\n  main: {{image: '{WORKSHOP}'}}\n"
        f"  store:\n    image: {BUSYBOX}\n"
        "    command: [sh, -c, 'mkdir /www; echo seen > /www/log; httpd -f -h /www -p 80']\n"
    )
    write_task(
        tmp_path / "tasks",
        "store",
        f"{SEPARATE}[[verifier.collect]]\ncommand = 'cp /www/log /dump'\nservice = 'store'\n"
        f"[[verifier.collect]]\ncommand = 'exit 1'\n[[verifier.collect]]\ncommand = 'cp /app/hello.txt /mine'\n",
        before="artifacts = ['/mine', {source = '/dump', service = 'store'}]",
        files={
            "environment/docker-compose.yaml": compose,
            "tests/Dockerfile": f"FROM {WORKSHOP}\nCOPY test.sh /tests/\n",
            "tests/test.sh": reward("grep -q seen /dump && grep -q hello /mine"),
        },
    )
    ended = await run(tmp_path / "tasks", tmp_path, script("Task store", HELLO))
    assert ended.values == {"store": 1.0}, ended.artifacts("store")["tests"]["log"]
    assert brought(ended, "store")["/dump"] == {"source": "/dump", "service": "store", "files": 1}


async def test_time_limits_are_multiplied_and_that_is_told(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks", "slow", "[verifier]\ntimeout_sec = 2\n",
               files={"tests/test.sh": f"#!/bin/bash\nsleep 3\n{reward('true')}"})  # fmt: skip
    assert (await run(tmp_path / "tasks", tmp_path, script("Task slow"))).values == {"slow": 0.0}
    ended = await run(tmp_path / "tasks", tmp_path, script("Task slow"), timeout_multiplier="10")
    assert ended.values == {"slow": 1.0}
    departures = benchmark(f"harbor:{tmp_path / 'tasks'}", {"timeout_multiplier": "10"}).departures
    assert list(departures) == [
        SEALED_DEPARTURE,
        SEALED_NETWORK_DEPARTURE,
        "time limits of agents and tests multiplied by 10",
    ]
