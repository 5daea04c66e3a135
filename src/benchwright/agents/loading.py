"""Loads users' objects, named as `module:attribute`. Each error is described in one line."""

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
from benchwright.suggestions import did_you_mean
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
    """Load the object named by `module:attribute`.

    The path is split at its last colon. The module is an installed module, or one in the working directory.
    `kind`, `form`, `example`: used in the message for an invalid path. `error`: the class of the error that
    is raised.

    Raises:
        UserError: If the path has no colon, the module cannot be imported, or the module lacks the attribute.
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
    """Import a user's module. The working directory is appended to `sys.path`, and stays there.

    Because the directory is last, a file in it never hides a module of Python or an installed module of the
    same name.

    Raises:
        UserError: If there is no such module, if another module has its name, or if its own code fails. The
            message says where.
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
        raise error(f"Cannot import module '{name}': {describe_error(failure)}") from failure
    except (Exception, SystemExit) as failure:  # a user's module may raise anything
        raise error(f"Cannot import module '{name}': {describe_error(failure)}") from failure


def _check_name(name: str, directory: str, error: type[UserError]) -> None:
    """Raise `error` if the directory has a module of this name, but another module of that name hides it."""
    here = next(filter(os.path.isfile, (f"{directory}/{name}.py", f"{directory}/{name}/__init__.py")), None)
    if here is None:
        return
    try:
        found = importlib.util.find_spec(name)
    except ValueError:  # a module without a spec has that name
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
    """Load the agent named by `module:attribute`; see `create_agent`.

    Raises:
        UserError: If the object cannot be loaded or created, or is not a `RolloutAgentLoop`.
    """
    return create_agent(load_object(path), path)


def create_agent(found: Any, path: str) -> RolloutAgentLoop:
    """Return the agent for an object loaded from a path.

    If the object is a class, it is instantiated without arguments.

    Raises:
        UserError: If the object cannot be created, or is not a `RolloutAgentLoop`.
    """
    from benchwright.agents.rollout.loop import RolloutAgentLoop

    if isinstance(found, type) and issubclass(found, RolloutAgentLoop):
        try:
            found = found()
        except Exception as failure:  # a user's constructor may raise anything
            raise UserError(f"Cannot create agent '{path}': {describe_error(failure)}") from failure
    if not isinstance(found, RolloutAgentLoop):
        kind = f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"
        raise UserError(f"'{path}' must be a RolloutAgentLoop or a subclass of it, but it is {kind}")
    return found


def describe_error(failure: BaseException) -> str:
    """Describe an error in one line, with the place in the code.

    The place is that of the syntax error. For other errors, it is the innermost line of the user's code.
    """
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
