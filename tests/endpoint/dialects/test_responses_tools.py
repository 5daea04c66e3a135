"""Tools that a client of Responses runs are offered as functions, and their calls come back as it knows them."""

from __future__ import annotations

import json
from typing import Any, get_args, get_type_hints

import pytest
from tests.endpoint.dialects.clients import events_in

from benchwright.endpoint.dialects import RESPONSES, AnswerTranslator, UntranslatableRequest
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.dialects.responses.response_reader import ResponsesReader
from benchwright.endpoint.dialects.tool_names import MAX_TOOL_NAME_LENGTH

Json = dict[str, Any]

EXEC = {"type": "function", "name": "exec_command", "parameters": {"type": "object"}}
PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: begin_patch"},
}
GROUP = {"type": "namespace", "name": "functions", "description": "Works here.", "tools": [EXEC, PATCH]}
ADDED = {"type": "additional_tools", "role": "developer", "tools": [GROUP]}
HI = {"role": "user", "content": "Hi"}

OF_THE_PROVIDER = {
    *("file_search", "web_search", "web_search_2025_08_26", "web_search_preview", "mcp", "code_interpreter"),
    *("web_search_preview_2025_03_11", "image_generation", "programmatic_tool_calling"),
    *("computer", "computer_use_preview"),
}
"""Types of tools that have no translation: the provider runs them, or they need a screen."""


def asked(*items: Json, **fields: Any) -> tuple[Json, tuple[str, ...]]:
    """(The chat completion that asks the same, the flags of what it lacks)."""
    losses = TranslationLosses()
    return RESPONSES.chat_request({"model": "m", "input": list(items), **fields}, losses), losses.flags


def offered(*items: Json, **fields: Any) -> list[str]:
    return [tool["function"]["name"] for tool in asked(*items, **fields)[0].get("tools", [])]


def called_back(request: Json, name: str, arguments: Json, *, stream: bool = False) -> Json:
    """The item that the client gets when the model calls this function."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    translation = AnswerTranslator(RESPONSES, request, "1")
    if stream:
        chunk = {"choices": [{"index": 0, "delta": message, "finish_reason": "tool_calls"}]}
        said = [translation.begin(), translation.translate_chunk(chunk), translation.end(announced=True)]
        events = events_in(b"".join(said))
        (item,) = (event["item"] for event in events if event["type"] == "response.output_item.done")
        assert events[-1]["response"]["output"] == [item]
        return dict(item)
    (item,) = json.loads(translation.translate_body({"choices": [{"message": message}]}))["output"]
    return dict(item)


class TestAdditionalTools:
    """Codex sends its tools as an item of the input for models that its catalogue knows."""

    def test_are_offered(self) -> None:
        assert offered(ADDED, HI) == ["functions__exec_command", "functions__apply_patch"]

    @pytest.mark.parametrize("stream", [False, True])
    def test_are_called_under_their_namespace(self, stream: bool) -> None:
        request = {"input": [ADDED, HI]}
        item = called_back(request, "functions__exec_command", {"cmd": "ls"}, stream=stream)
        assert (item["type"], item["namespace"], item["name"]) == (
            "function_call",
            "functions",
            "exec_command",
        )

    def test_with_free_text_get_it_back_as_text_and_tell_its_grammar(self) -> None:
        item = called_back({"input": [ADDED, HI]}, "functions__apply_patch", {"input": "*** Begin Patch"})
        assert (item["type"], item["namespace"]) == ("custom_tool_call", "functions")
        assert item["input"] == "*** Begin Patch"
        _, tool = asked(ADDED, HI)[0]["tools"]
        assert "start: begin_patch" in tool["function"]["description"]

    @pytest.mark.parametrize(("tools", "offers"), [([GROUP], True), ([], False)])
    def test_make_a_request_one_with_tools(self, tools: list[Json], offers: bool) -> None:
        fields = {"input": json.dumps([{**ADDED, "tools": tools}, HI]).encode()}
        assert RESPONSES.offers_tools is not None
        assert RESPONSES.offers_tools(fields) is offers

    def test_offered_twice_are_one(self) -> None:
        assert offered(ADDED, HI, ADDED) == ["functions__exec_command", "functions__apply_patch"]


CLIENT_TOOLS: dict[str, tuple[Json, Json, Json]] = {
    "local_shell": (
        {"command": ["ls", "-l"], "timeout_ms": 9},
        {"type": "local_shell_call"},
        {"action": {"type": "exec", "env": {}, "command": ["ls", "-l"], "timeout_ms": 9}},
    ),
    "shell": (
        {"commands": ["ls", "pwd"]},
        {"type": "shell_call"},
        {"action": {"commands": ["ls", "pwd"]}},
    ),
    "apply_patch": (
        {"type": "update_file", "path": "a.py", "diff": "@@\n-a\n+b"},
        {"type": "apply_patch_call"},
        {"operation": {"type": "update_file", "path": "a.py", "diff": "@@\n-a\n+b"}},
    ),
    "tool_search": (
        {"query": "calendar"},
        {"type": "tool_search_call", "execution": "client"},
        {"arguments": {"query": "calendar"}},
    ),
}
"""(Arguments of a call, the type of its item, what the item says) of each tool that is known by its type."""


@pytest.mark.parametrize("kind", CLIENT_TOOLS)
class TestToolsKnownByType:
    def test_are_offered_with_a_description_and_a_schema(self, kind: str) -> None:
        (tool,) = asked(HI, tools=[{"type": kind, "execution": "client"}])[0]["tools"]
        assert tool["function"]["name"] == kind
        assert tool["function"]["description"]
        assert tool["function"]["parameters"]["required"]

    @pytest.mark.parametrize("stream", [False, True])
    def test_are_called_by_items_of_their_own(self, kind: str, stream: bool) -> None:
        arguments, typed, said = CLIENT_TOOLS[kind]
        request = {"input": "Hi", "tools": [{"type": kind, "execution": "client"}]}
        item = called_back(request, kind, arguments, stream=stream)
        assert item.items() >= {**typed, **said, "call_id": "call_1", "status": "completed"}.items()

    def test_are_told_as_calls_of_functions_in_later_requests(self, kind: str) -> None:
        arguments, typed, said = CLIENT_TOOLS[kind]
        call = {**typed, **said, "id": "x_1", "call_id": "call_1", "status": "completed"}
        answer, _ = asked(call)[0]["messages"]
        ((made,),) = (answer["tool_calls"],)
        assert made["function"]["name"] == kind
        read = json.loads(made["function"]["arguments"])
        assert read.items() >= arguments.items()

    def test_are_read_alike_where_the_server_speaks_responses(self, kind: str) -> None:
        arguments, typed, said = CLIENT_TOOLS[kind]
        item = {**typed, **said, "id": "x_1", "call_id": "call_1", "status": "completed"}
        reader = ResponsesReader()
        begun = reader.read_event({"type": "response.output_item.added", "output_index": 0, "item": item})
        done = reader.read_event({"type": "response.output_item.done", "output_index": 0, "item": item})
        (first,), (last,) = (one["choices"][0]["delta"]["tool_calls"] for one in (begun, done))
        assert (first["id"], first["function"]["name"]) == ("call_1", kind)
        assert json.loads(last["function"]["arguments"]).items() >= arguments.items()


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"type": "local_shell_call_output", "id": "call_1", "output": "a.txt"}, "a.txt"),
        (
            {
                "type": "shell_call_output",
                "call_id": "call_1",
                "output": [
                    {"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}},
                    {"stdout": "", "stderr": "", "outcome": {"type": "timeout"}},
                ],
            },
            "a\nb\n[exit code 1]\n[timed out]",
        ),
        (
            {"type": "apply_patch_call_output", "call_id": "call_1", "status": "failed", "output": "no file"},
            "failed: no file",
        ),
        (
            {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": [GROUP]},
            "These tools can be called now: functions__exec_command, functions__apply_patch.",
        ),
    ],
    ids=lambda one: one["type"] if isinstance(one, dict) else "",
)
def test_results_of_tools_known_by_type_are_texts(result: Json, expected: str) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "x", "arguments": "{}"}
    _, told = asked(call, result)[0]["messages"]
    assert (told["role"], told["content"]) == ("tool", expected)


def test_tools_that_a_search_has_found_are_offered() -> None:
    found = {"type": "tool_search_output", "call_id": "a", "execution": "client", "tools": [GROUP]}
    assert "functions__exec_command" in offered(HI, found)


class TestChoice:
    TOOLS = (EXEC, {"type": "shell"}, GROUP)

    def test_of_allowed_tools_offers_these_only(self) -> None:
        allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "shell"}]}
        request, _ = asked(HI, tools=list(self.TOOLS), tool_choice=allowed)
        assert [tool["function"]["name"] for tool in request["tools"]] == ["shell"]
        assert request["tool_choice"] == "required"

    def test_may_allow_a_group(self) -> None:
        allowed = {
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "namespace", "name": "functions"}],
        }
        assert offered(HI, tools=list(self.TOOLS), tool_choice=allowed) == [
            "functions__exec_command",
            "functions__apply_patch",
        ]

    def test_of_a_tool_known_by_its_type_names_its_function(self) -> None:
        request, _ = asked(HI, tools=list(self.TOOLS), tool_choice={"type": "shell"})
        assert request["tool_choice"] == {"type": "function", "function": {"name": "shell"}}

    def test_of_a_tool_that_is_not_offered_is_left_to_the_model(self) -> None:
        request, _ = asked(HI, tools=[EXEC], tool_choice={"type": "image_generation"})
        assert request["tool_choice"] == "auto"


class TestName:
    def test_is_one_that_strict_servers_take_and_comes_back_as_it_was(self) -> None:
        long = {**EXEC, "name": "very.long name " * 8}
        request = {"input": "Hi", "tools": [{**GROUP, "tools": [long]}]}
        (name,) = offered(HI, tools=request["tools"])
        assert len(name) <= MAX_TOOL_NAME_LENGTH
        assert name.replace("_", "").replace("-", "").isalnum()
        assert called_back(request, name, {})["name"] == long["name"]


class TestLosses:
    def test_are_none_of_what_a_client_runs(self) -> None:
        assert asked(ADDED, HI, tools=[EXEC, {"type": "shell"}])[1] == ()

    def test_name_tools_that_were_not_offered(self) -> None:
        container = {"type": "shell", "environment": {"type": "container_auto"}}
        _, flags = asked(HI, tools=[{"type": "web_search"}, {"type": "mcp"}, container])
        assert flags == ("tools_left_out: web_search, mcp, shell",)

    def test_name_items_that_the_model_did_not_get(self) -> None:
        request, flags = asked({"type": "compaction", "encrypted_content": "gAAA"}, HI)
        assert flags == ("parts_left_out: compaction",)
        assert "cannot be read" in request["messages"][0]["content"]

    def test_of_another_agents_message_are_what_is_encrypted(self) -> None:
        content = [{"type": "input_text", "text": "Done."}, {"type": "encrypted_content", "data": "x"}]
        item = {"type": "agent_message", "author": "/lead/worker", "recipient": "/lead", "content": content}
        request, flags = asked(item)
        (told,) = request["messages"]
        assert told["role"] == "user"
        assert "/lead/worker" in told["content"]
        assert "Done." in told["content"]
        assert flags == ("parts_left_out: encrypted_content",)

    def test_are_told_of_types_that_nobody_knows_yet(self) -> None:
        _, flags = asked({"type": "telepathy"}, HI, tools=[{"type": "telekinesis"}])
        assert flags == ("tools_left_out: telekinesis", "parts_left_out: telepathy")


def listed_types(union: Any) -> list[str]:
    """The types that OpenAI's own library lists in a union."""
    found: list[str] = []
    for member in get_args(union):
        named = get_type_hints(member)["type"]
        inner = [one for one in get_args(named) if one is not type(None)]
        found += [value for one in inner for value in (get_args(one) or (one,))]
    return sorted(set(found))


def a_tool(kind: str) -> Json:
    return {"type": kind, "name": "x", "tools": [EXEC], "execution": "client"}


ITEM: Json = {
    "call_id": "call_1",
    "id": "call_1",
    "name": "x",
    "role": "developer",
    "content": [],
    "arguments": "{}",
    "input": "",
    "action": {"command": ["ls"]},
    "operation": {"type": "delete_file", "path": "a"},
    "status": "completed",
    "summary": [],
    "tools": [],
    "execution": "client",
}
SILENT = {"message", "reasoning", "additional_tools"}
"""Types of items that are empty here, and so say nothing to the model."""


class TestEveryTypeThatOpenaiLists:
    """Nothing falls through: what is listed is translated, refused, or told as lost."""

    def test_of_tools(self) -> None:
        types = pytest.importorskip("openai.types.responses", reason="openai is not installed")
        kinds = listed_types(types.ToolParam)
        assert {"namespace", "apply_patch", "tool_search"} <= set(kinds)
        for kind in kinds:
            request, flags = asked(HI, tools=[a_tool(kind)])
            assert ("tools" in request) is (kind not in OF_THE_PROVIDER), kind
            assert bool(flags) is (kind in OF_THE_PROVIDER), kind

    def test_of_items(self) -> None:
        types = pytest.importorskip("openai.types.responses", reason="openai is not installed")
        kinds = listed_types(types.ResponseInputItemParam)
        assert {"additional_tools", "local_shell_call", "compaction"} <= set(kinds)
        for kind in kinds:
            output: Any = [] if kind == "shell_call_output" else "ok"
            try:
                request, flags = asked({**ITEM, "type": kind, "output": output})
            except UntranslatableRequest as refusal:
                assert "send the whole conversation" in str(refusal)  # noqa: PT017
                continue
            assert request["messages"] or flags or kind in SILENT, kind
