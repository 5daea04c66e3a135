"""Imports the modules of a directory as a package that is invisible to all other code.

A tool server's `main.py` contains `import tools`, `from tools import search` or `from .tools import search`,
at the top or in a function that runs much later. Each of these statements means the file `tools.py` beside
`main.py`. With the directory on `sys.path`, the first two statements would work, but any other code of the
program that imports `tools` would get this file, too. Therefore the files become modules of a package with a
unique name. Only import statements in these modules look in this package first.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any


class DirectoryPackage:
    """The modules of a directory as the package `name`.

    The object is an entry of `sys.meta_path` and finds the modules.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._directory = directory

    def import_afresh(self, module: str) -> ModuleType:
        """Import a module anew, together with the modules of the directory that it imports, even if imported before.

        Raises:
            BaseException: Any error raised by the modules' code. Nothing is left in `sys.modules` then.
        """
        self._forget()
        importlib.invalidate_caches()
        sys.meta_path.insert(0, self)
        try:
            return importlib.import_module(f"{self.name}.{module}")
        except BaseException:
            self._forget()
            raise

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module in this package. Return None for a module outside of this package.

        Called by the import system.
        """
        if fullname == self.name:
            return self._own_spec()
        if not fullname.startswith(self.name + "."):
            return None
        return self._with_siblings(PathFinder.find_spec(fullname, path))

    def import_statement(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Implement the statement `import` inside the package; see `builtins.__import__`."""
        top = name.partition(".")[0]
        if level or not self._is_sibling(top):
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _is_sibling(self, name: str) -> bool:
        """Return True if the directory has this module.

        A folder without Python code (for example with data) is not a module, so it hides no installed module.
        """
        if name in sys.builtin_module_names:
            return False
        spec = PathFinder.find_spec(name, [str(self._directory)])
        if spec is None:
            return False
        return spec.has_location or (name not in sys.modules and find_spec(name) is None)

    def _own_spec(self) -> ModuleSpec | None:
        folder, start = str(self._directory), self._directory / "__init__.py"
        if start.is_file():
            spec = spec_from_file_location(self.name, start, submodule_search_locations=[folder])
            return self._with_siblings(spec)
        spec = ModuleSpec(self.name, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec

    def _with_siblings(self, spec: ModuleSpec | None) -> ModuleSpec | None:
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self)
        return spec

    def _forget(self) -> None:
        sys.meta_path[:] = [
            finder
            for finder in sys.meta_path
            if not (isinstance(finder, DirectoryPackage) and finder.name == self.name)
        ]
        for name in list(sys.modules):
            if name == self.name or name.startswith(self.name + "."):
                del sys.modules[name]


class _Loader(SourceFileLoader):
    """Loader of a module in which the statement `import` calls `DirectoryPackage.import_statement`."""

    def __init__(self, name: str, path: str, package: DirectoryPackage) -> None:
        super().__init__(name, path)
        self._package = package

    def exec_module(self, module: ModuleType) -> None:
        # Code looks up built-in names, including `__import__`, in the `__builtins__` of its globals.
        own: dict[str, Any] = {"__import__": self._package.import_statement}
        module.__dict__["__builtins__"] = vars(builtins) | own
        super().exec_module(module)
