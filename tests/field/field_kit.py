"""What the tests of the field share: commands with the server's options, and its log beside the journal."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from tests.app.app_kit import Program, trials
from tests.field.servers.server import MODEL, Running, Served

from benchwright.analysis.summary_records import RunSummary
from benchwright.records import NO_USAGE, RequestRecord

SECONDS = 600
SYSTEM = "You are a helpful assistant."
PRECISE = ("--temperature", "0", "--no-probe")
"""The likeliest words, and no requests but those of the trials."""

ONE_SENTENCE = ("--param", 'stop=["."]')
CAPITALS = [
    {"system": SYSTEM, "question": f"Complete the sentence: The capital of {country} is", "answer": capital}
    for country, capital in (
        ("France", "Paris"),
        ("Japan", "Tokyo"),
        ("Greece", "Athens"),
        ("China", "Beijing"),
    )
]
"""Questions that the model certainly answers rightly: each token is eight times as likely as any other."""

COUNTRIES = ("France", "Japan", "Germany", "China", "Italy", "Egypt", "Greece", "Russia", "Portugal", "Spain")
STORIES = [
    {"system": SYSTEM, "question": f"Tell me about {country}.", "answer": country} for country in COUNTRIES
]
"""Questions with long answers, whose words are not certain."""


@dataclass
class Log:
    """The requests that a server's own log tells of, once the block that it belongs to has ended."""

    requests: list[Served] = field(default_factory=list)


@dataclass(frozen=True)
class Field:
    """`benchwright` as its user has it, and the server that it asks."""

    program: Program
    running: Running

    def command(self, name: str, *arguments: str) -> list[str]:
        """Return the arguments of a command that asks the server."""
        target = ["--model", MODEL, "--base-url", self.running.base_url, *self.running.options]
        return [name, *arguments, *target]

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command that asks the server to its end."""
        return finish(self.program.start(*self.command(name, *arguments)))

    def document(self, name: str, *arguments: str) -> dict[str, Any]:
        """Run a command that must end well with `--json`; return what it prints."""
        ended = self.run(name, *arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        printed: dict[str, Any] = json.loads(ended.stdout)
        return printed

    def summary(self, name: str, *arguments: str) -> RunSummary:
        """Run a command that must end well with `--json`; return the summary of its run."""
        return msgspec.convert(self.document(name, *arguments), RunSummary)

    @contextmanager
    def log(self) -> Iterator[Log]:
        """Read what the server logs during the block."""
        begin, log = len(self.running.engine.text()), Log()
        yield log
        log.requests = self.running.served_since(begin)

    def rows(self, rows: Sequence[dict[str, Any]], name: str = "rows.jsonl") -> str:
        """Write a dataset; return its name."""
        return self.program.write(name, "".join(json.dumps(row) + "\n" for row in rows))


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a command to end."""
    out, err = process.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def requests(run: Path) -> list[RequestRecord]:
    """Return all requests that the journal of a run holds."""
    return [request for trial in trials(run) for request in trial.requests]


def check_counted(field: Field, asked: Sequence[RequestRecord], served: Sequence[Served]) -> None:
    """Assert that as many requests were served as were asked, with the tokens that the answers reported.

    Tokens are compared if the log tells of them; a server that reports none for streams has none in our records.
    """
    assert len(asked) == len(served)
    if all(one.usage == NO_USAGE for one in asked) and not field.running.counts_streams:
        return
    if any(one.completion_tokens for one in served):
        said = sorted((one.usage.prompt_tokens or 0, one.usage.completion_tokens or 0) for one in asked)
        logged = sorted((one.prompt_tokens, one.completion_tokens) for one in served)
        assert [prompt for prompt, _ in said] == [prompt for prompt, _ in logged]
        apart = [abs(ours - theirs) for (_, ours), (_, theirs) in zip(said, logged, strict=True)]
        assert max(apart) <= field.running.apart, (said, logged)
