"""The tools of a server as a model sees them: their schemas, their results, their errors."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum
from importlib.metadata import version
from typing import Annotated, Any, Literal

import fastmcp
import pytest
from pydantic import BaseModel, Field

from benchwright.agents.mcp.loading import MCPLoadError
from benchwright.agents.mcp.toolbox import McpToolbox, open_toolbox

Connect = Callable[..., AbstractAsyncContextManager[McpToolbox]]


@pytest.fixture
def connect() -> Connect:
    """Opens the toolbox of a server that has these functions as tools."""

    def open_tools(*functions: Callable[..., Any]) -> AbstractAsyncContextManager[McpToolbox]:
        server = fastmcp.FastMCP("tested")
        for function in functions:
            server.tool()(function)
        return open_toolbox(server)

    return open_tools


class Point(BaseModel):
    x: int
    y: float = 0.5


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


def draw(
    points: list[Point],
    width: int,
    sizes: dict[str, int],
    colour: Colour = Colour.RED,
    style: Literal["line", "dots"] = "line",
    label: str | None = None,
    depth: Annotated[int, Field(ge=1, le=5, description="how deep")] = 3,
) -> str:
    """Draws something."""
    return f"{points} {width} {colour} {style} {label} {depth} {sizes}"


class TestSchemas:
    async def schema(self, connect: Connect, function: Callable[..., Any]) -> dict[str, Any]:
        async with connect(function) as toolbox:
            (tool,) = toolbox.tools
        assert tool["type"] == "function"
        return dict(tool["function"])

    async def test_a_tool_has_a_name_and_says_what_it_does(self, connect: Connect) -> None:
        function = await self.schema(connect, draw)
        assert (function["name"], function["description"]) == ("draw", "Draws something.")

    async def test_one_that_does_not_say_is_described_by_its_name(self, connect: Connect) -> None:
        def silent() -> str:
            return ""

        assert (await self.schema(connect, silent))["description"] == "Tool: silent"

    async def test_one_without_parameters_takes_an_empty_object(self, connect: Connect) -> None:
        def nothing() -> None: ...

        parameters = (await self.schema(connect, nothing))["parameters"]
        assert (parameters["type"], parameters["properties"]) == ("object", {})

    async def test_nothing_of_the_parameters_is_lost(self, connect: Connect) -> None:
        parameters = (await self.schema(connect, draw))["parameters"]
        properties = {name: without_titles(schema) for name, schema in parameters["properties"].items()}
        point = {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "number", "default": 0.5}},
            "required": ["x"],
        }
        assert properties == {
            "points": {"type": "array", "items": point},
            "width": {"type": "integer"},
            "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "style": {"type": "string", "enum": ["line", "dots"], "default": "line"},
            "label": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "depth": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3, "description": "how deep"},
        }
        assert parameters["required"] == ["points", "width", "sizes"]

    @pytest.mark.skipif(version("fastmcp").startswith("2."), reason="fastmcp 2 cannot list such a tool")
    async def test_a_type_that_holds_itself_is_a_reference_to_a_definition(self, connect: Connect) -> None:
        def count(tree: Tree) -> int:
            return 1 + len(tree.children)

        async with connect(count) as toolbox:
            parameters = toolbox.tools[0]["function"]["parameters"]
            text = await toolbox.call("count", {"tree": {"value": 1, "children": [{"value": 2}]}})
        assert parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
        assert parameters["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
        assert text == "2"


def without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {name: without_titles(value) for name, value in schema.items() if name != "title"}
    return schema


class TestResults:
    @pytest.mark.parametrize(
        ("value", "kind", "text"),
        [
            ("hello é", str, "hello é"),
            (1.5, float, "1.5"),
            (7, int, "7"),
            (True, bool, "true"),
            (["é", "a"], list[str], '["\\u00e9", "a"]'),
            ({"a": 1}, dict, '{"a": 1}'),
            ("no annotation", None, "no annotation"),
            (None, None, ""),
            ([], list[int], "[]"),
        ],
    )
    async def test_are_told_as_text(self, connect: Connect, value: Any, kind: Any, text: str) -> None:
        def give():  # type: ignore[no-untyped-def]
            return value

        if kind is not None:
            give.__annotations__["return"] = kind
        async with connect(give) as toolbox:
            assert await toolbox.call("give", {}) == text

    async def test_a_model_is_told_as_json(self, connect: Connect) -> None:
        def give() -> Point:
            return Point(x=1)

        async with connect(give) as toolbox:
            assert await toolbox.call("give", {}) == '{"x": 1, "y": 0.5}'

    async def test_arguments_arrive_as_the_types_that_the_tool_asks_for(self, connect: Connect) -> None:
        arguments = {"points": [{"x": 1}], "width": 2, "sizes": {"a": 3}, "colour": "blue"}
        async with connect(draw) as toolbox:
            text = await toolbox.call("draw", arguments)
        assert text == "[Point(x=1, y=0.5)] 2 Colour.BLUE line None 3 {'a': 3}"

    async def test_tools_may_be_asynchronous(self, connect: Connect) -> None:
        async def give() -> str:
            await asyncio.sleep(0)
            return "later"

        async with connect(give) as toolbox:
            assert await toolbox.call("give", {}) == "later"


class TestErrors:
    @staticmethod
    async def error(toolbox: McpToolbox, name: str, **arguments: Any) -> str:
        with pytest.raises(Exception, match=r".") as caught:
            await toolbox.call(name, arguments)
        return str(caught.value)

    async def test_a_tool_that_raises_says_why(self, connect: Connect) -> None:
        def fail() -> str:
            raise ValueError("there is no such page")

        async with connect(fail) as toolbox:
            assert "there is no such page" in await self.error(toolbox, "fail")

    async def test_an_unknown_tool_is_named(self, connect: Connect) -> None:
        async with connect(draw) as toolbox:
            assert "browse" in await self.error(toolbox, "browse")

    async def test_arguments_that_do_not_fit_are_named(self, connect: Connect) -> None:
        async with connect(draw) as toolbox:
            text = await self.error(toolbox, "draw", points=[], width="wide", sizes={})
            assert "width" in text
            assert "valid integer" in text

    async def test_nothing_is_logged_of_it(self, connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
        def fail() -> str:
            raise ValueError("there is no such page")

        with caplog.at_level(logging.WARNING):
            async with connect(fail) as toolbox:
                await self.error(toolbox, "fail")
                await self.error(toolbox, "browse")
                await self.error(toolbox, "fail", much="too much")
        assert caplog.messages == []

    @pytest.mark.parametrize("how", ["exit", "cancel", "stop", "async exit"])
    async def test_the_session_outlives_whatever_a_tool_does(self, connect: Connect, how: str) -> None:
        started, released = asyncio.Event(), asyncio.Event()

        def leave() -> str:
            if how == "stop":
                return next(iter(()))
            raise SystemExit(3)

        async def leave_later() -> str:
            raise asyncio.CancelledError if how == "cancel" else SystemExit(3)

        async def patient() -> str:
            started.set()
            await released.wait()
            return "still here"

        async with connect(leave, leave_later, patient) as toolbox:
            other = asyncio.create_task(toolbox.call("patient", {}))
            await started.wait()
            name = "leave_later" if how in ("cancel", "async exit") else "leave"
            expected = {"cancel": "CancelledError", "stop": "StopIteration"}.get(how, "SystemExit: 3")
            assert expected in await self.error(toolbox, name)
            released.set()
            assert await other == "still here"
            assert await toolbox.call("patient", {}) == "still here"

    async def test_a_call_that_is_given_up_does_not_harm_the_next(self, connect: Connect) -> None:
        async def forever() -> None:
            await asyncio.Event().wait()

        async with connect(forever, draw) as toolbox:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(toolbox.call("forever", {}), 0.05)
            assert "[]" in await toolbox.call("draw", {"points": [], "width": 1, "sizes": {}})


class TestBlockingTools:
    """Plain functions that take their time: no other trial, and no timing, may suffer from them."""

    async def test_do_not_hold_up_the_event_loop(self, connect: Connect) -> None:
        opened = threading.Event()

        def wait() -> bool:
            return opened.wait(10)

        async with connect(wait) as toolbox:
            call = asyncio.create_task(toolbox.call("wait", {}))
            await asyncio.sleep(0.05)
            opened.set()
            assert await call == "true"

    async def test_run_side_by_side(self, connect: Connect) -> None:
        together = threading.Barrier(8, timeout=10)

        def meet() -> bool:
            together.wait()
            return True

        async with connect(meet) as toolbox:
            assert await asyncio.gather(*(toolbox.call("meet", {}) for _ in range(8))) == ["true"] * 8

    async def test_still_get_the_servers_context(self, connect: Connect) -> None:
        def who(ctx: fastmcp.Context) -> str:
            return str(ctx.fastmcp.name)

        async with connect(who) as toolbox:
            assert "ctx" not in str(toolbox.tools)
            assert await toolbox.call("who", {}) == "tested"


class TestOpening:
    async def test_enters_the_servers_lifespan_and_leaves_it(self) -> None:
        events = []

        @asynccontextmanager
        async def lifespan(server: Any) -> Any:
            events.append("start")
            try:
                yield {}
            finally:
                events.append("end")

        server = fastmcp.FastMCP("tested", lifespan=lifespan)
        async with open_toolbox(server):
            assert events == ["start"]
        assert events == ["start", "end"]

    async def test_a_server_that_does_not_start_is_the_users_mistake(self) -> None:
        @asynccontextmanager
        async def lifespan(server: Any) -> Any:
            raise ConnectionError("no database")
            yield

        server = fastmcp.FastMCP("tested", lifespan=lifespan)
        with pytest.raises(
            MCPLoadError, match=r"The MCP server 'tested' cannot list its tools: .*no database"
        ):
            async with open_toolbox(server):
                pass

    async def test_an_error_of_whoever_uses_it_stays_as_it_is(self, connect: Connect) -> None:
        with pytest.raises(KeyError):
            async with connect(draw):
                raise KeyError("mine")
