"""Finds what a user names as `module:attribute`, and says in one line what is wrong when it is not there."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from benchwright.errors import UserError
from benchwright.suggest import did_you_mean
from benchwright.text import error_line, one_line

if TYPE_CHECKING:
    from benchwright.agents.rollout.loop import RolloutAgentLoop

_OWN_CODE = str(Path(__file__).parents[1]) + os.sep


def load_object(
    path: str,
    *,
    kind: str = "module",
    form: str = "module:attribute",
    example: str = "my_agent:MyAgentLoop",
    error: type[UserError] = UserError,
) -> Any:
    """What `module:attribute` names; the path is split at its last colon, the module is installed or in the
    working directory.

    `kind`, `form` and `example` are the words of the message for a path that is none; `error` is raised.

    Raises:
        UserError: the path has no colon, the module cannot be imported, or the attribute is not in it.
    """
    module_name, colon, attribute = path.rpartition(":")
    if not (colon and module_name and attribute):
        raise error(f"Invalid {kind} path '{path}'. Expected format: '{form}' (e.g., '{example}')")
    module = import_user_module(module_name, error)
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = sorted(name for name in vars(module) if not name.startswith("_"))
        raise error(
            f"Module '{module_name}' has no attribute '{attribute}'. Available: {names}."
            + did_you_mean(attribute, names)
        ) from None


def import_user_module(name: str, error: type[UserError] = UserError) -> ModuleType:
    """Imports a user's module; the working directory is put last on `sys.path`, and stays there.

    A file of it that has the name of a module of Python's or of an installed one is therefore never imported by
    anybody who means that one.

    Raises:
        UserError: there is no such module, another one has its name, or its own code fails (the message says where).
    """
    directory = os.getcwd()
    if directory not in sys.path:
        sys.path.append(directory)
        importlib.invalidate_caches()
    _check_name(name.partition(".")[0], directory, error)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as failure:
        if failure.name is not None and (name == failure.name or name.startswith(failure.name + ".")):
            files = [file.stem for file in Path(directory).glob("*.py")]
            raise error(
                f"Cannot import module '{name}': no such module in {directory} or among the installed ones."
                + did_you_mean(name, files)
            ) from None
        raise error(f"Cannot import module '{name}': {in_one_line(failure)}") from failure
    except (Exception, SystemExit) as failure:  # a user's module raises what it likes
        raise error(f"Cannot import module '{name}': {in_one_line(failure)}") from failure


def _check_name(name: str, directory: str, error: type[UserError]) -> None:
    """Refuses the name of a module in the directory that stands for another module, which would be imported."""
    here = next(filter(os.path.isfile, (f"{directory}/{name}.py", f"{directory}/{name}/__init__.py")), None)
    if here is None:
        return
    try:
        found = importlib.util.find_spec(name)
    except ValueError:  # a module that was made by hand has that name
        found = None
    if found is None or (
        found.origin and os.path.exists(found.origin) and os.path.samefile(found.origin, here)
    ):
        return
    whose = "Python's own" if name in sys.stdlib_module_names else f"an installed one ({found.origin})"
    raise error(
        f"Cannot import module '{name}' of {directory}: its name is that of {whose}, which is imported instead. "
        "Rename it."
    )


def load_agent(path: str) -> RolloutAgentLoop:
    """The agent that `module:attribute` names; see `as_agent`.

    Raises:
        UserError: it cannot be loaded, cannot be made, or is not a `RolloutAgentLoop`.
    """
    return as_agent(load_object(path), path)


def as_agent(found: Any, path: str) -> RolloutAgentLoop:
    """The agent that was found at a path; a class is instantiated without arguments.

    Raises:
        UserError: it cannot be made, or is not a `RolloutAgentLoop`.
    """
    from benchwright.agents.rollout.loop import RolloutAgentLoop

    if isinstance(found, type) and issubclass(found, RolloutAgentLoop):
        try:
            found = found()
        except Exception as failure:  # a user's constructor raises what it likes
            raise UserError(f"Cannot create agent '{path}': {in_one_line(failure)}") from failure
    if not isinstance(found, RolloutAgentLoop):
        kind = f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"
        raise UserError(f"'{path}' must be a RolloutAgentLoop or a subclass of it, but it is {kind}")
    return found


def in_one_line(failure: BaseException) -> str:
    """What failed and where: a syntax error's own place, else the innermost line of the user's code."""
    if isinstance(failure, SyntaxError):
        return f"{failure.msg} ({_place(failure.filename, failure.lineno)})"
    if isinstance(failure, SystemExit):
        what = f"it calls sys.exit({one_line(str(failure))})"
    elif isinstance(failure, ImportError):
        what = one_line(str(failure))
    else:
        what = error_line(failure)
    for frame in reversed(traceback.extract_tb(failure.__traceback__)):
        if _is_users(frame.filename):
            return f"{what} ({_place(frame.filename, frame.lineno)})"
    return what


def _is_users(filename: str) -> bool:
    inside = filename.startswith(os.getcwd() + os.sep)
    return inside and "site-packages" not in filename and not filename.startswith(_OWN_CODE)


def _place(filename: str | None, line: int | None) -> str:
    if filename is not None and filename.startswith(os.getcwd() + os.sep):
        filename = os.path.relpath(filename)
    return f"{filename}:{line}"
