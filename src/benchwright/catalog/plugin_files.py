"""Loads users' benchmark files as submodules of `llm_benchmarker.benchmarks`.

This makes the imports in the examples of llm-benchmarker's document (`from .base import BaseBenchmark`) work
in such files.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from benchwright.errors import UserError
from benchwright.text import error_line

PLUGIN_PACKAGE = "llm_benchmarker.benchmarks"


def load_plugin_module(given: Path) -> ModuleType:
    """Load a user's file as a submodule of `llm_benchmarker.benchmarks`, and return the module.

    A file that is loaded already is not loaded again. The file's directory is appended to `sys.path`, so that
    the file can import the modules in its directory.

    Raises:
        UserError: If the file is missing, or its code fails.
    """
    import xxhash

    path = given.resolve()
    if not path.is_file():
        raise UserError(f"There is no plugin file {given}.")
    importlib.import_module(PLUGIN_PACKAGE)
    name = f"{PLUGIN_PACKAGE}._plugin_{xxhash.xxh3_64_hexdigest(str(path).encode())}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"The plugin {given} is not a Python file (.py).")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as failure:  # a user's module may raise anything
        del sys.modules[name]
        if isinstance(failure, UserError):
            raise
        raise UserError(f"The plugin {given} cannot be loaded: {describe_failure(failure)}") from failure
    return module


def describe_failure(failure: BaseException) -> str:
    """Describe an exception in one line, with the number of the line that raised it or has the syntax error."""
    if isinstance(failure, SyntaxError):
        return f"{failure.msg} (line {failure.lineno})"
    import traceback

    frames = traceback.extract_tb(failure.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{error_line(failure)}{place}"
