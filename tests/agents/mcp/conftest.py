"""What the tests of MCP tools share. They run with every supported version of fastmcp (see tests/other_versions.py)."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.mcp.loading import import_fastmcp

import_fastmcp(Path(__file__).parent)


@pytest.fixture
def tool_directory(tmp_path: Path, own_imports: None) -> Iterator[Callable[..., Path]]:
    """Writes a directory of tools: its name, then a text per file; the text of main.py may come without one."""

    def write(main: str | None = None, *, name: str = "tools", **files: str) -> Path:
        directory = tmp_path / name
        directory.mkdir(exist_ok=True)
        texts = {file.replace("__", "/") + ".py": text for file, text in files.items()}
        if main is not None:
            texts["main.py"] = main
        for file, text in texts.items():
            path = directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return directory

    finders = list(sys.meta_path)
    yield write
    sys.meta_path[:] = finders


@pytest.fixture
def scripted(scripted: type[Any]) -> type[Any]:
    """The scripted session of the room above, with a list of what it was told of the trial's progress."""

    class Session(scripted):  # type: ignore[misc]
        def __init__(self, *replies: Any) -> None:
            super().__init__(*replies)
            self.shown: list[str] = []

        def progress(self, text: str) -> None:
            self.shown.append(text)

    return Session
