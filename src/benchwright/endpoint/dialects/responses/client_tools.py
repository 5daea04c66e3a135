"""Tools that the client runs and that Responses identify by their type alone, described here as functions.

Source: the fields of `local_shell_call`, `shell_call`, `apply_patch_call` and `tool_search_call` in OpenAI's
API.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class ClientTool(NamedTuple):
    """A tool that the client runs: its description for the model, and the JSON schema of its arguments."""

    description: str
    parameters: dict[str, Any]


def _object(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}
_MILLISECONDS = {**_NUMBER, "description": "The time limit in milliseconds."}

CLIENT_TOOLS = {
    "local_shell": ClientTool(
        "Runs one program on the user's machine and returns its output.",
        _object(
            ("command",),
            command={**_TEXTS, "description": "The program and its arguments."},
            working_directory=_TEXT,
            timeout_ms=_MILLISECONDS,
            env={"type": "object", "additionalProperties": _TEXT},
        ),
    ),
    "shell": ClientTool(
        "Runs shell commands on the user's machine and returns the output of each.",
        _object(
            ("commands",),
            commands=_TEXTS,
            timeout_ms=_MILLISECONDS,
            max_output_length={**_NUMBER, "description": "The most characters of output to return."},
        ),
    ),
    "apply_patch": ClientTool(
        "Creates, updates or deletes one file.",
        _object(
            ("type", "path"),
            type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            path=_TEXT,
            diff={
                **_TEXT,
                "description": "The change as a V4A diff: lines begin with +, - or a space, sections with @@. "
                "To create a file, all lines begin with +. To delete one, leave it out.",
            },
        ),
    ),
    "tool_search": ClientTool(
        "Searches for further tools; those that it finds can be called afterwards.",
        _object(("query",), query=_TEXT, limit=_NUMBER),
    ),
}
