"""The descriptions of servers, and servers that run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.field.kept import Unavailable
from tests.server_process import DidNotStart, ServerProcess

MODEL = "smollm2"
"""The name under which every server serves the model."""

FEATURES: dict[str, str] = {
    "check": "`check`",
    "whole": "`eval`, whole answers",
    "streamed": "`eval`, streamed answers",
    "mmlu_pro": "`run mmlu_pro`",
    "ifeval": "`run ifeval`",
    "tool": "an agent with a tool",
    "mcp": "a directory of MCP tools",
    "program": "a command-line agent through the relay",
    "closed": "`load`, closed loop, compared with the server's log",
    "open": "`load`, open loop, compared with the server's log",
    "resumed": "Ctrl-C during a run, then resumed",
    "killed": "the server killed during a run, then resumed",
    "compared": "two quantizations compared",
}
"""What is tried on each server, with its words in tables."""


@dataclass(frozen=True)
class Served:
    """A request as the server's own log tells of it: tokens, and milliseconds of work from its start to its end.

    `milliseconds` is None if the log does not tell.
    """

    prompt_tokens: int
    completion_tokens: int
    milliseconds: float | None = None


@dataclass(frozen=True)
class Running:
    """A server that runs: its address, and the process that computes the answers.

    `served` reads the log of the process. `options` are the options of commands that this server needs.
    `counts_streams` is False if streamed answers bring no usage. Log and usage of an answer lie at most `apart` tokens
    apart: one may count the end of the answer as a token, and the other not. `slots` requests are served side by side;
    others wait, of which the log does not tell.
    """

    base_url: str
    version: str
    engine: ServerProcess
    served: Callable[[str], list[Served]]
    options: Sequence[str] = ()
    counts_streams: bool = True
    apart: int = 0
    slots: int = 1

    def served_since(self, begin: int) -> list[Served]:
        """Return the requests that the log tells of from this place of its text on."""
        return self.served(self.engine.text()[begin:])


@dataclass(frozen=True)
class Server:
    """A kind of server. `prepare` installs or compiles what is missing of it, `start` runs it in a directory.

    Both raise `Unavailable` if the server cannot be had. `without` says for each feature that is not tried why,
    `costs` why CI leaves the server out.
    """

    name: str
    title: str
    prepare: Callable[[], object]
    start: Callable[[Path], AbstractContextManager[Running]]
    without: Mapping[str, str] = field(default_factory=dict)
    costs: str = ""


@contextmanager
def running(
    command: Callable[[int], Sequence[object]],
    directory: Path,
    version: str,
    health: str,
    served: Callable[[str], list[Served]],
    variables: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Start a server that computes answers by itself, and stop it in the end.

    Raises:
        Unavailable: If it does not start.
    """
    engine = ServerProcess(command, directory, health=health, variables=variables)
    try:
        engine.start()
    except DidNotStart as error:
        raise Unavailable(str(error)) from None
    try:
        yield Running(f"{engine.address}/v1", version, engine, served)
    finally:
        engine.stop()
