"""Finds an agent's changes to the tools of a task's tests, in the agent's container and in its terminal."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

import msgspec

from benchwright.catalog.containers.sealing.called_programs import (
    CalledPrograms,
    find_called_programs,
    scripts_in,
)
from benchwright.catalog.containers.sealing.changed_tools import (
    added_programs,
    find_changed_tools,
    is_test_program,
)
from benchwright.catalog.containers.sealing.terminal_state import (
    PATH_VARIABLE,
    TerminalState,
    read_terminal_state,
    variables_affecting_tests,
    write_terminal_state,
)
from benchwright.catalog.containers.sealing.verifier import Verifier
from benchwright.catalog.harbor.environment import TaskContainers
from benchwright.catalog.harbor.settings import Step
from benchwright.records import Record
from benchwright.sandbox.docker import DockerSandbox
from benchwright.sandbox.docker.snapshots import FileChange

MAX_NAMED_CHANGES = 8
"""Maximum number of changes that are listed one by one."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The engine's search path for programs if an image sets none."""
_LINK = 0x8000000
"""The symlink bit in Go's os.FileMode."""
MAX_PROFILE_LENGTH = 64 * 1024
_PROFILES = re.compile(
    r"/etc/(?:profile|bash\.bashrc|environment|profile\.d/[^/]+)|(?:/root|/home/[^/]+)/"
    r"(?:\.bashrc|\.bash_profile|\.bash_login|\.profile|\.zshenv|\.zshrc|\.local/bin/env|\.cargo/env)"
)
_READS_PROFILES = re.compile(
    r"\b(?:bash|sh)\s+(?:-\w+\s+)*-\w*[il]\w*\b|--login\b|(?:\bsource|(?:^|\s)\.)\s+\S*(?:bashrc|profile|environment|/env)\b",
    re.MULTILINE,
)
_FOLDERS = re.compile(r"\bPATH=(\S+)")
_GIVES_ANOTHER = re.compile(
    r"\balias\s+([\w.-]+)=|^\s*(?:function\s+)?([\w.-]+)\s*\(\)|\bfunction\s+([\w.-]+)", re.MULTILINE
)
_STARTS = re.compile(r"\b(?:BASH_ENV|ENV|LD_PRELOAD|LD_LIBRARY_PATH|PYTHON\w+|PYTEST_\w+)=")
_ENVIRONMENTS = re.compile(
    r"\b(?:venv|virtual\s?env\w*|conda|mamba|pyenv|nvm|rbenv|environment)\b", re.IGNORECASE
)


class ToolChanges(Record, frozen=True):
    """An agent's changes to tools: `changes` of files, and exported variables.

    Each variable is stored with the container's own value. `terminal`: the state of the agent's terminal, if
    the tests run in that terminal.
    """

    changes: list[FileChange] = []
    variables: dict[str, str | None] = {}
    terminal: TerminalState | None = None

    def __bool__(self) -> bool:
        plain = self.terminal is None or self.terminal.has_only_exports
        return bool(self.changes or self.variables) or not plain

    @property
    def description(self) -> str:
        """The changes as text. Compiled files come last, because Python itself writes them."""
        ordered = sorted(
            self.changes, key=lambda change: (change.path.endswith((".pyc", "__pycache__")), change.path)
        )
        words = [f"exported {name}" for name in self.variables]
        if self.terminal is not None and not self.terminal.has_only_exports:
            words.append("commands in the state of the terminal")
        words += [f"{change.kind} {change.path}" for change in ordered]
        told = ", ".join(words[:MAX_NAMED_CHANGES])
        return f"{told} and {len(words) - MAX_NAMED_CHANGES} more" if len(words) > MAX_NAMED_CHANGES else told

    async def write_clean_terminal(self, sandbox: DockerSandbox) -> str | None:
        """Write the terminal's state without the agent's changes, and return the directory of that state.

        Return None if the tests do not run in a terminal.
        """
        if self.terminal is None:
            return None
        return await write_terminal_state(sandbox, self.terminal, self.variables)


class ToolChangeFinder:
    """Finds the changes to the tools that a step's tests use.

    `own`: the container's environment variables. `texts`: the test files. `instruction`: the agent's
    instruction.
    """

    def __init__(
        self,
        verifier: Verifier,
        place: TaskContainers,
        own: Mapping[str, str],
        directory: str,
        texts: Mapping[str, str],
        step: Step,
        instruction: str,
    ) -> None:
        self._verifier = verifier
        self._place = place
        self._own = {PATH_VARIABLE: SYSTEM_PATH, **own}
        self._directory = directory
        self._texts = texts
        self._scripts = scripts_in(texts)
        self._step = step
        self._instruction = instruction

    async def find_changes(self) -> ToolChanges:
        """Return the agent's changes to the tools.

        Raises:
            EngineError: If the engine does not respond.
        """
        terminal = await self._terminal() if self._step.same_shell else None
        changes = await self._verifier.list_changes()
        profiles = await self._profiles(changes)
        paths = [
            self._own[PATH_VARIABLE],
            *(path for text in profiles.values() for path in _FOLDERS.findall(text)),
        ]
        directories = {self._directory}
        if terminal is not None:
            paths.append(terminal.exports.get(PATH_VARIABLE, ""))
            directories.add(terminal.directory)
        called = await self._called(changes, paths)
        found = find_changed_tools(changes, self._instruction, directories, called)
        found = [one for one in found if not await self._is_genuine(one, changes)]
        found += [one for one in changes if one.path in profiles and _overrides(profiles[one.path], called)]
        found += await self._folders_led_elsewhere(changes, called)
        variables = {}
        if terminal is not None:
            variables = variables_affecting_tests(terminal, self._own, self._scripts, self._instruction)
        return ToolChanges(found, variables, terminal)

    async def _terminal(self) -> TerminalState | None:
        async with self._verifier.start_original() as sandbox:
            return await read_terminal_state(self._place.for_container(sandbox, {}).root_sandbox)

    async def _called(self, changes: Sequence[FileChange], paths: Sequence[str]) -> CalledPrograms:
        called = find_called_programs(self._texts, paths, self._directory)
        there = await self._verifier.find_existing_programs(
            added_programs(changes, called),
            find_called_programs({}, [self._own[PATH_VARIABLE]], self._directory).program_folders,
        )
        return msgspec.structs.replace(called, image_programs=there)

    async def _profiles(self, changes: Sequence[FileChange]) -> dict[str, str]:
        """Return the shell start-up files that the agent wrote, as {path: text}.

        Return {} if the tests do not read such files.
        """
        if not _READS_PROFILES.search(self._scripts):
            return {}
        paths = [one.path for one in changes if one.kind != "deleted" and _PROFILES.fullmatch(one.path)]
        return {path: await self._verifier.read_text(path, MAX_PROFILE_LENGTH) for path in paths}

    async def _is_genuine(self, change: FileChange, changes: Sequence[FileChange]) -> bool:
        """Return True if an added program is honest: a link to the image's program, or in a requested environment.

        A requested environment is, for example, a virtual environment that the instruction asks for.
        """
        if change.kind != "added" or posixpath.dirname(change.path) in self._own[PATH_VARIABLE].split(":"):
            return False
        name = posixpath.basename(change.path)
        if not is_test_program(name):
            return False
        environment = posixpath.dirname(posixpath.dirname(change.path))
        asked = environment not in ("/", self._directory) and posixpath.basename(environment) in re.findall(
            r"[\w.-]+", self._instruction
        )
        if asked and _ENVIRONMENTS.search(self._instruction):
            return True
        stat = await self._verifier.stat_path(change.path)
        if stat is None or not stat.mode & _LINK or not stat.linkTarget:
            return False
        leads_to = posixpath.basename(stat.linkTarget)
        family = leads_to == name or (leads_to.startswith("python") and name.startswith("python"))
        return family and stat.linkTarget not in {one.path for one in changes}

    async def _folders_led_elsewhere(
        self, changes: Sequence[FileChange], called: CalledPrograms
    ) -> list[FileChange]:
        """Return the program folders that the agent replaced by a link."""
        found = [one for one in changes if one.kind == "changed" and one.path in called.program_folders]
        stats = [await self._verifier.stat_path(one.path) for one in found]
        return [one for one, stat in zip(found, stats, strict=True) if stat and stat.mode & _LINK]


def _overrides(profile: str, called: CalledPrograms) -> bool:
    """Return True if a shell profile redefines a program of the tests, or affects how programs start."""
    if _STARTS.search(profile):
        return True
    names = {name for found in _GIVES_ANOTHER.findall(profile) for name in found if name}
    return any(name in called.test_words and is_test_program(name) for name in names - {"ls", "grep"})
