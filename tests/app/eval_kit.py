"""What the tests of `eval` share: a user's project, a server that logs what it is asked, the files that come of it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.app.app_kit import Program
from tests.asking_agent import AGENT
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import read_truth

ROWS = 6
CACHED = "Evaluation already completed (cached)."

REWARDS = """
def right(solution_str, ground_truth, extra_info=None):
    return float(solution_str == ground_truth)


def half(solution_str, ground_truth, extra_info=None):
    return 0.5


def length(messages, ground_truth, metadata):
    return len(messages)


def fails_on_the_third(solution_str, ground_truth, extra_info=None):
    if extra_info["user_prompt"] == "word2":
        raise KeyError("no such thing")
    return 1.0
"""


class Server:
    """A simulated endpoint, and its log of the requests that it was sent."""

    def __init__(self, base_url: str, log: Path) -> None:
        self.base_url = base_url
        self._log = log

    def answered(self) -> int:
        """How many requests the server says that it has answered."""
        with urlopen(f"{self.base_url.removesuffix('/v1')}/metrics") as page:
            (count,) = re.findall(r"^benchwright_simulated_answered_total (\d+)", page.read().decode(), re.M)
        return int(count)

    def asked(self) -> int:
        """How many requests are in the server's log, once all that it has answered are."""
        while True:
            requests = [truth for truth in read_truth(self._log) if truth.path.endswith("/chat/completions")]
            if sum(truth.complete for truth in requests) == self.answered():
                return len(requests)
            time.sleep(0.02)  # lines leave the server four times a second


@contextmanager
def logging_server(log: Path, *options: str, answers: Sequence[dict[str, Any]] = ()) -> Iterator[Server]:
    """A server that answers by the key, and else says what it is asked."""
    with simulated_endpoint(*options, "--log", str(log), answers=answers) as base_url:
        yield Server(base_url, log)


class Project:
    """A directory with an agent, eval functions and rows; the program with a cache of its own.

    Row n asks `wordn`. That is also its target, but for every third row.
    """

    def __init__(self, program: Program, rows: int = ROWS) -> None:
        self.program = program
        self.cache = program.directory / "cache"
        self.environment = {"OSMOSIS_CACHE_DIR": str(self.cache)}
        program.write("agent.py", AGENT)
        program.write("rewards.py", REWARDS)
        self.rows(rows)

    def rows(self, count: int, name: str = "data.jsonl") -> str:
        """Writes the dataset; returns its name."""
        rows = ({"system_prompt": "s", "user_prompt": f"word{row}", "ground_truth": target(row)}
                for row in range(count))  # fmt: skip
        return self.program.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def command(self, server: str, *more: str, eval_fn: str = "rewards:right", model: str = "m") -> list[str]:
        """The arguments of an evaluation of the agent."""
        return ["eval", "-m", "agent:agent_loop", "-d", "data.jsonl", "--eval-fn", eval_fn, "--model", model,
                "--base-url", server, *more]  # fmt: skip

    def run(self, *arguments: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command that must end with this exit code."""
        ended = self.program.run(*arguments, **self.environment, **environment)
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr
        return ended

    def start_slowly(self, command: list[str], requests: int, server: Server) -> subprocess.Popen[str]:
        """Starts a command that takes its time; returns once it has asked so many times."""
        self.program.write("slow", "")
        before = server.answered()
        process = self.program.start(*command, **self.environment)
        while server.answered() - before < requests:
            assert process.poll() is None, process.communicate()
        return process

    def stop(
        self, process: subprocess.Popen[str], number: signal.Signals
    ) -> subprocess.CompletedProcess[str]:
        """Sends a signal, and waits for the end."""
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        (self.program.directory / "slow").unlink()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    @property
    def entries(self) -> list[Path]:
        """All cache files, by name."""
        return sorted(self.cache.glob("eval/*/*/*.json"))

    @property
    def entry(self) -> dict[str, Any]:
        """What the only cache file says."""
        (path,) = self.entries
        return read_json(path)

    @property
    def last_entry(self) -> dict[str, Any]:
        """What the cache file of the newest run says."""
        newest = max(self.program.runs, key=lambda run: read_json(run / "run.json")["created_at"])
        (entry,) = [entry for entry in map(read_json, self.entries) if entry["run"] == str(newest)]
        return entry

    @property
    def backups(self) -> list[str]:
        """The names of all files set aside."""
        return sorted(path.name for path in self.cache.rglob("*") if ".backup." in path.name)


def summary_in(stdout: str) -> str:
    """The summary within what an evaluation printed."""
    found = re.search(r"^\S+: (finished|stopped|unfinished), .*?(?=^Run: )", stdout, re.M | re.S)
    assert found is not None, stdout
    return found[0]


def target(row: int) -> str:
    return "another" if row % 3 == 0 else f"word{row}"


def read_json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
