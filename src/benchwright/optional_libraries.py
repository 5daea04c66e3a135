"""Imports of the libraries that come with the extras of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from benchwright.errors import UserError
from benchwright.text import error_line


@contextmanager
def importing(
    package: str, use: str, extra: str, error: Callable[[str], Exception] = UserError
) -> Iterator[None]:
    """Run a block that only imports an optional library, and explain in one line why the import failed.

    A library whose own dependencies are missing or too new raises errors of any type when it is imported.

    `package`: the name of the library in the package index. `use`: the beginning of the sentence, such as
    "Telemetry needs". `extra`: the extra that installs the library.

    Raises:
        UserError: If the library is not installed, or its installed version cannot be imported. `error` is raised
            instead, if given.
    """
    try:
        yield
    except Exception as failure:
        raise error(import_failure_message(package, use, extra, failure)) from failure


def import_failure_message(package: str, use: str, extra: str, failure: Exception) -> str:
    """Return one line with the package, its version, the reason of the failure, and the command that helps."""
    try:
        installed = version(package)
    except PackageNotFoundError:
        installed = ""
    if not installed or _is_module_of(package, failure):
        return f"{use} {package}: pip install 'benchwright[{extra}]'"
    return (
        f"{use} {package}, but version {installed}, which is installed, cannot be imported "
        f"({error_line(failure)}): pip install --upgrade 'benchwright[{extra}]'"
    )


def _is_module_of(package: str, failure: Exception) -> bool:
    """Return True if the module that was not found is the library itself, whose metadata may have been left behind."""
    if not isinstance(failure, ModuleNotFoundError):
        return False
    return (failure.name or "").partition(".")[0].replace("_", "-") == package
