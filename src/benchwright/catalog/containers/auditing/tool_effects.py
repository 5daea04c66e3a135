"""Converts agents' tool calls to shell commands and file edits.

Each agent names its tools differently, but the names of arguments are few. Most calls are therefore
recognised by their arguments. Only a call that reads is recognised by its tool's name. A call that reads a
file, searches, lists a folder or fetches a page becomes the equivalent command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.catalog.containers.auditing.shell_records import FileWrite
from benchwright.catalog.containers.auditing.written_edits import file_writes_of_patch, is_patch
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.records import Record

COMMAND_ARGUMENTS = ("command", "cmd", "keystrokes", "code", "script", "commands", "bash_command", "chars")
"""Names of the arguments in which agents pass commands to their tools."""
PATH_ARGUMENTS = (
    *("path", "file_path", "filePath", "filepath", "filename", "target_file", "absolute_path"),
    "notebook_path",
)
CONTENT_ARGUMENTS = (
    *("content", "contents", "file_text", "new_str", "new_string", "newString", "new_source", "text"),
    "insert_text",
)
PATCH_ARGUMENTS = ("input", "patch", "patchText", *COMMAND_ARGUMENTS)
FOLDER_ARGUMENTS = ("workdir", "cwd", "directory")
"""Names of the arguments with a command's working directory, if it differs from the previous command's."""

_READS = re.compile(r"(?:read|view|open|cat)(?:_?(?:file|image))?|notebook_?read", re.IGNORECASE)
_SEARCHES = re.compile(r"grep(?:_search)?|search(?:_file_content|_files)?", re.IGNORECASE)
_FINDS = re.compile(r"glob|find(?:_files)?", re.IGNORECASE)
_LISTS = re.compile(r"ls|list(?:_dir(?:ectory)?|_files)?", re.IGNORECASE)
_SHELL_WITH_SCRIPT = re.compile(r"-[a-z]*c")


class ToolEffect(Record, frozen=True):
    """The effect of a tool call: a command, or the files that the call wrote (`edits`).

    `folder`: the command's working directory, if the call states one.
    """

    command: str = ""
    folder: str = ""
    edits: list[FileWrite] = []


def effects_of_call(name: str, given: Any) -> Iterator[ToolEffect]:
    """Yield the effects of a tool call. Yield nothing if the call affects neither files nor the network."""
    arguments = read_object_arguments(given) or {}
    path = _text(arguments, PATH_ARGUMENTS)
    patch = next((arguments[one] for one in PATCH_ARGUMENTS if is_patch(arguments.get(one))), None)
    if patch is not None:
        yield ToolEffect(edits=list(file_writes_of_patch(patch)))
    elif path is not None and (contents := list(_contents(arguments))):
        yield ToolEffect(edits=[FileWrite(path, "edit", "\n".join(contents), f"{name} {path}")])
    elif (command := _looking(name, arguments, path)) is not None:
        yield ToolEffect(command)
    else:
        folder = _text(arguments, FOLDER_ARGUMENTS) or ""
        yield from (ToolEffect(command, folder) for command in _commands(arguments))


def _looking(name: str, arguments: Mapping[str, Any], path: str | None) -> str | None:
    """Return the shell command equivalent to a tool call that only reads. Return None for any other call."""
    pattern, url = _text(arguments, ("pattern", "query")), _text(arguments, ("url",))
    if url is not None and "fetch" in name.lower():
        return shlex.join(["curl", url])
    if pattern is not None and _SEARCHES.fullmatch(name):
        return shlex.join(["grep", "-r", pattern, path or "."])
    if pattern is not None and _FINDS.fullmatch(name):
        return shlex.join(["find", path or ".", "-path", pattern])
    if path is not None and (_READS.fullmatch(name) or arguments.get("command") == "view"):
        return shlex.join(["cat", path])
    return shlex.join(["ls", path]) if path is not None and _LISTS.fullmatch(name) else None


def _text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)


def _contents(arguments: Mapping[str, Any]) -> Iterator[str]:
    yield from (arguments[name] for name in CONTENT_ARGUMENTS if isinstance(arguments.get(name), str))
    several = arguments.get("edits")
    for one in several if isinstance(several, list) else ():
        if isinstance(one, Mapping):
            yield from _contents(one)


def _commands(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in COMMAND_ARGUMENTS:
        given = arguments.get(name)
        if (
            name in ("command", "cmd")
            and isinstance(given, list)
            and all(isinstance(one, str) for one in given)
        ):
            given = _script(given)
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, Mapping):
                yield from _commands(one)
            elif isinstance(one, str) and one.strip():
                yield one


def _script(words: list[str]) -> str:
    """Return a list of command words as a script. For `bash -lc SCRIPT`, return SCRIPT."""
    is_shell = len(words) == 3 and words[0].endswith("sh") and _SHELL_WITH_SCRIPT.fullmatch(words[1])
    return words[2] if is_shell else shlex.join(words)
