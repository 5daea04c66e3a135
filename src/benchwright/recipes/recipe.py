"""The content of an agent's recipe, and its parser."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from benchwright.errors import UserError
from benchwright.runs.keys import fingerprint

Dialect = Literal["chat", "responses", "messages", "gemini"]
LoopKind = Literal["program", "terminus"]

AGENT_PLACEHOLDER = "{agent}"
"""Placeholder in a command. It is replaced by the installed program, with its interpreter."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
PLACEHOLDERS = frozenset({"agent", "prompt", "model", "base_url", "root_url", "token", "home"})


class Install(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Packages to install, from npm or PyPI, in pinned versions. No install script of npm is run.

    `program`: the file to run, below the installed folder. `module`: the Python module to run, for a PyPI
    package. `node`: True if Node.js runs the program. `containers`: True if the program also runs in
    containers.
    """

    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    program: str = ""
    module: str = ""
    node: bool = False
    containers: bool = True


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An agent.

    With `loop = "program"` (the default), the agent is a command-line program. With another `loop`, it is a
    loop that Benchwright itself runs in a benchmark's containers.

    `dialect`: the API that the agent uses. `install`: the packages to install; without it, the agent's
    program must exist already: on the host's PATH, or in a task's image. In `command`, in the values of
    `environment`, and in `files` (a mapping from paths below the agent's home folder), placeholders in braces
    are replaced; see `PLACEHOLDERS`. `records`: patterns, below the home folder, of the files in which the
    agent records its work. `turns`: the default turn limit; without it, the benchmark's default applies.
    """

    name: str
    title: str
    dialect: Dialect
    command: tuple[str, ...] = ()
    loop: LoopKind = "program"
    turns: int | None = None
    version: str = ""
    licence: str = ""
    source: str = ""
    note: str = ""
    install: Install | None = None
    environment: dict[str, str] = {}
    files: dict[str, str] = {}
    records: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The agent's name and version."""
        return f"{self.name} {self.version}".strip()

    @property
    def fingerprint(self) -> str:
        """Digest of all fields of the recipe."""
        return fingerprint(msgspec.to_builtins(self))


def read_recipe(path: Path) -> Recipe:
    """Read a recipe. Its default name is the name of the file without the ending.

    Raises:
        UserError: If the file cannot be read or is not a recipe. The message has the reason.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        recipe = msgspec.convert({"name": path.stem, **said}, Recipe)
    except OSError as error:
        raise UserError(f"The recipe {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path} is not a recipe of an agent: {error}.") from None
    for problem in _problems(recipe):
        raise UserError(f"{path} is not a recipe of an agent: {problem}.")
    return recipe


def _problems(recipe: Recipe) -> list[str]:
    install = recipe.install
    problems = []
    if not _NAME.fullmatch(recipe.name):
        problems.append(f"the name {recipe.name!r} has other characters than a-z, 0-9, '.', '_' and '-'")
    if recipe.loop != "program":
        if recipe.command or install or recipe.environment or recipe.files or recipe.records:
            problems.append(f"a `loop` of {recipe.loop!r} starts no program, so nothing can be said of one")
        return problems
    if not recipe.command or not recipe.command[0]:
        problems.append("`command` is empty")
    if (recipe.command[:1] == (AGENT_PLACEHOLDER,)) != (install is not None):
        problems.append(
            f"`command` begins with {AGENT_PLACEHOLDER!r} if, and only if, there is something to install"
        )
    if install is not None:
        if bool(install.npm) == bool(install.pip):
            problems.append("`install` names packages of either `npm` or `pip`")
        if bool(install.pip) != bool(install.module) or bool(install.npm) != bool(install.program):
            problems.append("`install` names a `program` for npm and a `module` for pip")
    texts = (*recipe.command, *recipe.environment.values())
    unknown = {name for text in texts for name in _PLACEHOLDER.findall(text)} - PLACEHOLDERS
    if unknown:
        problems.append(f"there is no placeholder {{{min(unknown)}}}")
    if not any("{prompt}" in text for text in texts):
        problems.append("the task, {prompt}, is nowhere in `command` or `environment`")
    return problems
