"""Loading the FastMCP server of a directory, and what is said when that fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.mcp.loading import MCPLoadError, load_mcp_server
from benchwright.agents.mcp.toolbox import open_toolbox
from benchwright.errors import UserError

Write = Callable[..., Path]

SERVER = """
from fastmcp import FastMCP
mcp = FastMCP("tools")
"""

SHARED = """
from fastmcp import FastMCP
mcp = FastMCP("shared")
"""


def call(server: Any, name: str, **arguments: Any) -> str:
    """Calls one tool over a connection of its own."""

    async def call_once() -> str:
        async with open_toolbox(server) as toolbox:
            return await toolbox.call(name, arguments)

    return asyncio.run(call_once())


class TestServer:
    def test_is_the_one_that_main_makes(self, tool_directory: Write) -> None:
        assert load_mcp_server(tool_directory(SERVER)).name == "tools"

    def test_may_have_any_name(self, tool_directory: Write) -> None:
        assert load_mcp_server(tool_directory(SERVER.replace("mcp =", "server ="))).name == "tools"

    def test_the_first_of_several_is_taken(self, tool_directory: Write) -> None:
        main = SHARED.replace("mcp =", "zoo =") + SHARED.replace("mcp =", "farm =").replace("shared", "farm")
        assert load_mcp_server(tool_directory(main)).name == "farm"

    def test_but_the_usual_name_goes_before(self, tool_directory: Write) -> None:
        main = SERVER + "billing = FastMCP('billing')\nmcp.mount(billing)"
        assert load_mcp_server(tool_directory(main)).name == "tools"

    def test_is_made_afresh_every_time(self, tool_directory: Write) -> None:
        directory = tool_directory(SERVER + "import names", names="")
        first = load_mcp_server(directory)
        tool_directory(SERVER.replace('"tools"', '"others"'))
        assert load_mcp_server(directory).name == "others"
        assert first.name == "tools"

    def test_main_is_not_run_as_a_script(self, tool_directory: Write) -> None:
        main = SERVER + "if __name__ == '__main__':\n    raise RuntimeError('this would serve forever')"
        assert load_mcp_server(tool_directory(main)).name == "tools"


class TestMistakes:
    @staticmethod
    def complaint(directory: Path) -> str:
        with pytest.raises(MCPLoadError) as caught:
            load_mcp_server(directory)
        assert isinstance(caught.value, UserError)
        text = str(caught.value)
        assert "\n" not in text
        return text

    def test_no_directory(self, tmp_path: Path) -> None:
        assert self.complaint(tmp_path / "x") == f"MCP directory does not exist: {tmp_path / 'x'}"

    def test_a_file_is_no_directory(self, tool_directory: Write) -> None:
        file = tool_directory(SERVER) / "main.py"
        assert self.complaint(file) == f"MCP directory does not exist: {file}"

    def test_no_main(self, tool_directory: Write) -> None:
        directory = tool_directory(tools="")
        assert self.complaint(directory) == f"No main.py found in MCP directory: {directory}"

    def test_no_server(self, tool_directory: Write) -> None:
        directory = tool_directory("mcp = 'not a server'")
        assert self.complaint(directory).startswith(f"No FastMCP instance found in {directory}/main.py. Make")

    @pytest.mark.parametrize(
        ("main", "reason"),
        [
            ("1 / 0", "ZeroDivisionError: division by zero (tools/main.py:1)"),
            ("def broken(:", "invalid syntax (tools/main.py:1)"),
            ("import nowhere", "No module named 'nowhere' (tools/main.py:1)"),
            ("exit(3)", "it calls sys.exit(3) (tools/main.py:1)"),
            ("import beside", "KeyError: 'key' (tools/beside.py:2)"),
        ],
    )
    def test_an_error_in_the_code_is_told_with_its_place(
        self, tool_directory: Write, monkeypatch: pytest.MonkeyPatch, main: str, reason: str
    ) -> None:
        directory = tool_directory(main, beside="\n{}['key']")
        monkeypatch.chdir(directory.parent)
        assert self.complaint(directory) == f"Error importing {directory}/main.py: {reason}"

    def test_a_failed_import_leaves_nothing_behind(self, tool_directory: Write) -> None:
        modules, finders = set(sys.modules), list(sys.meta_path)
        self.complaint(tool_directory("import beside\n1 / 0", beside=""))
        assert not {name for name in set(sys.modules) - modules if name.startswith("_osmosis_mcp_")}
        assert sys.meta_path == finders

    def test_fastmcp_is_missing(self, tool_directory: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fastmcp", None)
        assert "pip install 'benchwright[mcp]'" in self.complaint(tool_directory(SERVER))


STATEMENTS = [
    "import words",
    "from . import words",
    "import words as words",
    "import text.words as words",
    "from text import words",
    "from .text import words",
    "import text.words; words = text.words",
]


class TestImports:
    """Files beside main.py, imported in all the ways that people import them."""

    @pytest.mark.parametrize("statement", [*STATEMENTS, "import text.words as words; from words import *"])
    def test_find_the_files_beside_main(self, tool_directory: Write, statement: str) -> None:
        assert self.greeting(tool_directory, early=statement) == "hello"

    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_find_them_also_when_a_tool_is_called(self, tool_directory: Write, statement: str) -> None:
        assert self.greeting(tool_directory, late=statement) == "hello"

    @staticmethod
    def greeting(tool_directory: Write, early: str = "pass", late: str = "pass") -> str:
        main = f"""
        from fastmcp import FastMCP
        {early}
        mcp = FastMCP("tools")

        @mcp.tool()
        def greet() -> str:
            {late}
            return words.HELLO
        """
        directory = tool_directory(main, words="HELLO = 'hello'", text__words="HELLO = 'hello'")
        return call(load_mcp_server(directory), "greet")

    def test_a_module_is_the_same_however_it_is_imported(self, tool_directory: Write) -> None:
        main = """
        from server import mcp
        import tools
        from . import tools as also_tools
        assert tools is also_tools
        """
        tools = """
        from server import mcp

        @mcp.tool()
        def where() -> str:
            import tools
            from .server import mcp as same
            return f"{tools.where is not None} {same is mcp}"
        """
        server = load_mcp_server(tool_directory(main, tools=tools, server=SERVER))
        assert call(server, "where") == "True True"

    def test_the_package_may_have_a_start_of_its_own(self, tool_directory: Write) -> None:
        main = SERVER + "from . import GREETING\n@mcp.tool()\ndef greet() -> str:\n    return GREETING"
        directory = tool_directory(main)
        (directory / "__init__.py").write_text("import words\nGREETING = words.HELLO")
        (directory / "words.py").write_text("HELLO = 'hello'")
        assert call(load_mcp_server(directory), "greet") == "hello"

    def test_two_directories_with_equal_names_keep_apart(self, tool_directory: Write) -> None:
        main = """
        from fastmcp import FastMCP
        import words
        mcp = FastMCP("tools")

        @mcp.tool()
        def early() -> str:
            return words.HELLO

        @mcp.tool()
        def late() -> str:
            import words
            from more import HELLO
            return words.HELLO + HELLO
        """
        servers = [
            load_mcp_server(
                tool_directory(main, name=name, words=f"HELLO = '{name}'", more=f"HELLO = '{name}'")
            )
            for name in ("one", "two")
        ]
        assert [call(server, "early") for server in servers] == ["one", "two"]
        assert [call(server, "late") for server in servers] == ["oneone", "twotwo"]

    def test_nobody_else_gets_what_lies_beside_main(self, tool_directory: Write) -> None:
        path = list(sys.path)
        load_mcp_server(tool_directory(SERVER + "import only_here", only_here=""))
        assert sys.path == path
        assert "only_here" not in sys.modules
        with pytest.raises(ModuleNotFoundError):
            __import__("only_here")

    def test_a_folder_of_data_does_not_hide_an_installed_module(self, tool_directory: Write) -> None:
        main = (
            SERVER + "import json, sys\n@mcp.tool()\ndef dump() -> str:\n    return json.dumps(sys.maxsize)"
        )
        directory = tool_directory(main)
        for folder in ("json", "sys"):
            (directory / folder).mkdir()
        assert call(load_mcp_server(directory), "dump") == str(sys.maxsize)

    def test_a_file_goes_before_an_installed_module(self, tool_directory: Write) -> None:
        main = SERVER + "from calendar import DAY\n@mcp.tool()\ndef day() -> str:\n    return DAY"
        server = load_mcp_server(tool_directory(main, calendar="DAY = 'Monday'"))
        assert call(server, "day") == "Monday"
        import calendar

        assert calendar.isleap(2024)


class TestInAProcessOfItsOwn:
    @staticmethod
    def run(directory: Path, program: str) -> str:
        """Runs a program where the working directory is first on sys.path; returns what it prints."""
        command = [sys.executable, "-c", program]
        return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout

    def test_the_users_own_mcp_package_does_not_hide_the_one_that_fastmcp_needs(
        self, tool_directory: Write
    ) -> None:
        directory = tool_directory(SERVER + "from .names import NAME", name="mcp", names="NAME = 'x'")
        (directory / "__init__.py").write_text("")
        program = """
        from benchwright.agents.mcp.loading import load_mcp_server
        print(load_mcp_server("mcp").name)
        """
        assert self.run(directory.parent, "\n".join(program.split("\n        "))) == "tools\n"

    def test_fastmcp_is_imported_when_a_server_is_loaded_and_not_before(self, tmp_path: Path) -> None:
        program = (
            "import sys, osmosis_ai.rollout.mcp, benchwright.agents.mcp.task; print('fastmcp' in sys.modules)"
        )
        assert self.run(tmp_path, program) == "False\n"
