"""Finds signs that an agent looked up its answer: on code hosts, dataset hubs, or in a published package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchwright.catalog.containers.auditing.shell_records import ShellCommand
from benchwright.catalog.containers.auditing.trajectory import Finding, StepActions, Trajectory

PROJECT, BENCHMARK = "fetches_the_project", "fetches_the_benchmark"
HOSTS, REFUSED = "asks_code_hosts", "asks_refused_hosts"

CODE_HOSTS = (
    *("github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com"),
    *(
        "sourcegraph.com",
        "grep.app",
        "jsdelivr.net",
        "ghproxy.com",
        "archive.org",
        "swebench.com",
        "tbench.ai",
    ),
    "harborframework.com",
)
DATASET_HUBS = ("huggingface.co", "hf.co", "hf-mirror.com", "modelscope.cn", "kaggle.com")
PACKAGE_INDEXES = frozenset(("pypi", "pythonhosted", "npmjs", "golang", "crates", "rubygems", "anaconda"))
"""Package indexes. A host belongs to one if any part of its name between dots is listed here.

Subdomains and the top-level domain do not matter.
"""

_HOST = re.compile(r"(?:https?|git|ssh)://(?:[^\s/@\"']*@)?([\w.-]+)|git@([\w.-]+):")
_BENCHMARKS = re.compile(r"terminal-bench|terminal_bench|swe-?bench|sweap-images", re.I)
_DOWNLOADERS = ("curl", "wget", "aria2c", "gh", "hf", "huggingface-cli")
_GIT_ASKS = ("clone", "fetch", "pull", "ls-remote", "remote", "submodule", "archive")
_MANAGERS = ("pip", "pip3", "uv", "npm", "pnpm", "yarn", "go", "cargo", "gem", "conda", "mamba")
_FAILED = re.compile(
    r"could not resolve|couldn't resolve|connection (?:refused|timed out)|name or service not known|urlopen error"
    r"|temporary failure|network is unreachable|failed to connect|no matching distribution|40[34] (?:forbidden|not)",
    re.I,
)
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?(==|>=|<=|~=|!=|>|<|@|$)")
_CHOOSES = ("-U", "--upgrade", "-t", "--target", "--force-reinstall", "--no-deps", "--pre")


def findings(trajectory: Trajectory, acts: Sequence[StepActions]) -> Iterator[Finding]:
    """Find look-ups of the answer in commands and programs, and in the connections that the proxy logged."""
    for one in acts:
        for command in one.commands:
            yield from _of_command(trajectory, one, command)
        for code in one.programs:
            for line in code.text.split("\n"):
                yield from _of_text(trajectory, one, line.partition("#")[0], line)
    for connection in trajectory.connections:
        yield from _of_connection(trajectory, connection.host, connection.port, allowed=connection.allowed)


def refusal_evidence(host: str, port: int | None) -> str:
    """Return the line of evidence for a connection that the proxy refused."""
    return f"{host if port is None else f'{host}:{port}'} was refused by the proxy"


def is_host_listed(host: str, hosts: Sequence[str]) -> bool:
    """Return True if a host is one of `hosts`, or a subdomain of one of them."""
    return any(host == one or host.endswith(f".{one}") for one in hosts)


def _of_command(trajectory: Trajectory, acts: StepActions, command: ShellCommand) -> Iterator[Finding]:
    words = _without_python(command)
    if words[:1] and (words[0] in (*_DOWNLOADERS, *_MANAGERS) or _asks_by_git(words)):
        yield from _of_text(trajectory, acts, " ".join(words), command.line)
    if trajectory.repository and (_fetches(words) or _downloads(words, trajectory.repository)):
        yield acts.make_finding(PROJECT, command.line, "note" if _failed(acts) else "sign")


def _of_text(trajectory: Trajectory, acts: StepActions, text: str, line: str) -> Iterator[Finding]:
    about = trajectory.repository and _name(trajectory.repository).lower() in text.lower()
    for found in _HOST.finditer(text):
        host = found[1] or found[2]
        if host in trajectory.instruction:
            continue
        if is_host_listed(host, (*CODE_HOSTS, *DATASET_HUBS)):
            kind = BENCHMARK if _BENCHMARKS.search(text) else PROJECT if about else HOSTS
            yield acts.make_finding(kind, line, "note" if kind == HOSTS or _failed(acts) else "sign")
        elif about and PACKAGE_INDEXES.intersection(host.split(".")):
            yield acts.make_finding(PROJECT, line, "note" if _failed(acts) else "sign")


def _of_connection(
    trajectory: Trajectory, host: str, port: int | None, *, allowed: bool
) -> Iterator[Finding]:
    where = host if port is None else f"{host}:{port}"
    known = is_host_listed(host, (*CODE_HOSTS, *DATASET_HUBS)) and host not in trajectory.instruction
    if not allowed:
        yield Finding(REFUSED, refusal_evidence(host, port), "sign" if known else "note")
    elif known:
        yield Finding(HOSTS, f"{where} was reached through the proxy", "note")


def _without_python(command: ShellCommand) -> list[str]:
    """Return a command's words, with the program's base name as the first.

    `python -m NAME` is shortened to `NAME`, and `uv pip` is shortened to `pip`.
    """
    words = [command.program, *command.arguments]
    if command.program.startswith("python") and words[1:2] == ["-m"]:
        return words[2:]
    return words[1:] if words[:2] == ["uv", "pip"] else words


def _asks_by_git(words: Sequence[str]) -> bool:
    verbs = [word for word in words if not word.startswith("-")]
    return verbs[:1] == ["git"] and len(verbs) > 1 and verbs[1] in _GIT_ASKS


def _fetches(words: Sequence[str]) -> bool:
    """Return True if git contacts another repository."""
    verbs = [word for word in words if not word.startswith("-")]
    return verbs[:1] == ["git"] and (verbs[1:2] in (["fetch"], ["pull"], ["ls-remote"]))


def _downloads(words: Sequence[str], repository: str) -> bool:
    """Return True if a package manager downloads a release of the project itself. `repository`: the project's name."""
    if not words or words[0] not in _MANAGERS or "-e" in words or "--editable" in words:
        return False
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    chosen = verb in ("download", "pack") or any(word in _CHOOSES for word in words)
    for word in words[2:]:
        found = _REQUIREMENT.match(word)
        if found and _same(found[1], _name(repository)) and (chosen or found[2]):
            return True
    return False


def _same(package: str, project: str) -> bool:
    plain, name = (re.sub(r"[-_.]+", "-", one.lower()) for one in (package, project))
    return plain in (name, f"{name}-core", name.removeprefix("python-"))


def _name(repository: str) -> str:
    return repository.rpartition("/")[2]


def _failed(acts: StepActions) -> bool:
    return _FAILED.search(acts.step.output) is not None
