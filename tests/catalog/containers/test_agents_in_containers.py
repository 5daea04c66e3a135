"""Command-line agents in real containers without a network: they reach the model, and nothing else, by the relay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.catalog.containers.running import Played, played, says
from tests.catalog.containers.workshop import WORKSHOP, workshop
from tests.catalog.terminal_bench.terminal_kit import HELLO, SOLVE_HELLO, harbor, source, write_harbor
from tests.recipes.recipe_kit import PROGRAM
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.catalog.containers import ContainerBenchmark
from benchwright.recipes.python_runtime import container_runtime, python_command
from benchwright.recipes.recipe import Recipe
from benchwright.records import Status

__all__ = ["running_engine", "workshop"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("running_engine", "workshop")]

SOLVES = f"""
print(ask([{{"role": "user", "content": prompt}}])["content"])
subprocess.run({SOLVE_HELLO!r}, shell=True)
"""


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that the tests of this process share, with the Python for containers in it."""
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path_factory.getbasetemp() / "agents-in-containers"))


async def worked(tmp_path: Path, program: str, seconds: int = 60, **fields: Any) -> Played:
    """A task that an agent works on which is this Python program, with `prompt` and `ask(messages)`."""
    said: dict[str, Any] = {
        "name": "mine",
        "title": "Mine",
        "version": "1",
        "dialect": "chat",
        "command": ("python3", "{home}/agent.py", "{prompt}"),
        "files": {"agent.py": PROGRAM + program},
    }
    root = write_harbor(tmp_path / "tasks", sections={"agent": f"timeout_sec = {seconds}.0"})
    benchmark = harbor()
    assert isinstance(benchmark, ContainerBenchmark)
    benchmark = msgspec.structs.replace(benchmark, agent=Recipe(**(said | fields)))
    return await played(benchmark, source(root.parent), tmp_path, [says(HELLO, "I will.", "And more.")])


def ended(played: Played) -> tuple[Status, float | None]:
    trial = played.trials["hello-world"]
    return trial.record.status, played.score("hello-world").value if trial.scores else None


async def test_an_agent_solves_a_task_and_its_requests_are_the_trials(tmp_path: Path) -> None:
    went = await worked(tmp_path, SOLVES)
    assert ended(went) == (Status.ANSWERED, 1.0)
    (request,) = went.trials["hello-world"].record.requests
    assert (request.role, request.turn, request.dialect) == ("model", 0, "chat")
    artifacts = went.artifacts("hello-world")
    assert (artifacts["agent"], artifacts["output"]) == ("mine 1", "I will.\n")


async def test_what_it_writes_down_in_its_home_is_kept(tmp_path: Path) -> None:
    program = SOLVES + "pathlib.Path('~/log/1.jsonl').expanduser().write_text('said')\n"
    program = "os.mkdir(os.path.expanduser('~/log'))\n" + program
    went = await worked(tmp_path, program, records=("log/*.jsonl",))
    assert went.artifacts("hello-world")["records"] == {"log/1.jsonl": "said"}


async def test_it_has_a_loopback_and_no_other_network_and_can_change_nothing_of_what_runs_it(
    tmp_path: Path,
) -> None:
    program = SOLVES + (
        "import socket\n"
        "def tried(what):\n"
        "    try:\n"
        "        what()\n"
        "        return 'done'\n"
        "    except OSError as error:\n"
        "        return error.strerror\n"
        "away = tried(lambda: socket.create_connection(('192.0.2.1', 80), 5))\n"
        "write = tried(lambda: open('/opt/benchwright/python/loader', 'w'))\n"
        "print(json.dumps([os.environ['OPENAI_BASE_URL'][:17], away, write, sys.stdin.read()]))\n"
    )
    said = json.loads((await worked(tmp_path, program)).artifacts("hello-world")["output"].splitlines()[1])
    assert said == ["http://127.0.0.1:", "Network is unreachable", "Read-only file system", ""]


async def test_at_the_time_limit_it_is_ended_and_what_it_did_counts(tmp_path: Path) -> None:
    went = await worked(tmp_path, SOLVES + "time.sleep(60)\n", seconds=8)
    assert ended(went) == (Status.LIMIT, 1.0)
    assert went.trials["hello-world"].record.reason == "the work took longer than 8 s"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit('no such option')\n", "the agent ended with exit status 1: no such option"),
        ("print('Done!')\n", "the agent ended without an answer of the model"),
    ],
)
async def test_an_agent_that_does_not_work_is_no_wrong_answer(
    tmp_path: Path, program: str, reason: str
) -> None:
    went = await worked(tmp_path, program)
    assert ended(went)[0] is Status.EXECUTION_ERROR
    assert went.trials["hello-world"].record.reason == reason


def test_the_python_that_is_brought_along_runs_where_the_image_has_none(tmp_path: Path) -> None:
    mount = f"{container_runtime()}:/opt/python:ro"
    code = "import json, ssl, sqlite3, sys; print(json.dumps([sys.prefix, 6 * 7]))"
    run = [
        "run",
        "--rm",
        "--network=none",
        "--volume",
        mount,
        IMAGE,
        *python_command("/opt/python"),
        "-c",
        code,
    ]
    assert json.loads(docker(*run)) == ["/opt/python", 42]
    assert WORKSHOP
