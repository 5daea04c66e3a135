"""Splits shell scripts into their commands, without running the scripts. Not everything can be known in this way."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from benchwright.catalog.containers.auditing.file_writes import (
    file_writes_of,
    file_writes_of_program,
    printed_text,
)
from benchwright.catalog.containers.auditing.script_decoding import decoded_texts
from benchwright.catalog.containers.auditing.shell_records import EmbeddedProgram, ShellCommand, ShellScript
from benchwright.catalog.containers.auditing.shell_splitter import (
    HERE_STRING,
    SimpleCommand,
    split_commands,
    substitutions_in,
)

SHELL_PROGRAMS = ("bash", "sh", "dash", "zsh", "ash")
INTERPRETER_PATTERN = re.compile(r"(?:python|pypy|perl|ruby|node|php)[\d.]*")
WRAPPER_PROGRAMS = (
    *("sudo", "nohup", "setsid", "time", "exec", "command", "builtin", "env", "timeout", "nice", "stdbuf"),
    *("xargs", "busybox"),
)
SHELL_KEYWORDS = ("if", "then", "elif", "else", "do", "while", "until", "!", "{", "fi", "done", "}", "esac")
MAX_NESTING = 4
"""Maximum nesting of scripts within scripts. More deeply nested scripts are not read."""
MAX_SCRIPT_CHARACTERS = 256 * 1024
"""Maximum number of characters of a script that are read."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_BACKGROUND = re.compile(r"(?<![&>|])&(?![&>])")
_DURATION = re.compile(r"[\d.]+[smhd]?")
_OF_CODE = (".py", ".pl", ".rb", ".js")


class ShellReader:
    """Reads the scripts of one terminal, in order. Working directory and variables carry over to the next script.

    `directory`: the working directory at the start.
    """

    def __init__(self, directory: str = "") -> None:
        self._directory = directory
        self._variables: dict[str, str] = {}

    def read(self, script: str) -> ShellScript:
        """Return the commands and programs in a script, including those in nested and encoded scripts."""
        commands: list[ShellCommand] = []
        codes: list[EmbeddedProgram] = []
        self._read(script[:MAX_SCRIPT_CHARACTERS], "", 0, commands, codes)
        writings = [one for command in commands for one in file_writes_of(command)]
        codes += [EmbeddedProgram(one.content, one.line) for one in writings if one.path.endswith(_OF_CODE)]
        writings += [one for code in codes for one in file_writes_of_program(code)]
        return ShellScript(commands, codes, writings)

    def _read(
        self, script: str, prefix: str, depth: int, commands: list[ShellCommand], codes: list[EmbeddedProgram]
    ) -> None:
        """Collect the commands and programs of a script and of scripts within it.

        Append them to `commands` and `codes`. `prefix`: text before each line of evidence, such as `decoded:`
        for a script that was encoded.
        """
        if depth > MAX_NESTING:
            return
        found = list(self._commands(script, prefix))
        commands += found
        for command in found:
            codes += _codes_in(command)
            for text in _scripts_in(command):
                self._read(text, prefix, depth + 1, commands, codes)
        for text in decoded_texts(script):
            codes.append(EmbeddedProgram(text, f"decoded: {text}"))
            self._read(text, "decoded: ", depth + 1, commands, codes)

    def _commands(self, script: str, prefix: str) -> Iterator[ShellCommand]:
        inputs: list[str] = []
        looping = False
        for piece in split_commands(script):
            words = list(piece.words)
            while words and words[0] in SHELL_KEYWORDS:
                looping = words[0] in ("while", "until") or (looping and words[0] != "done")
                words.pop(0)
            if words[:1] == ["for"] and words[2:3] == ["in"] and len(words) > 3:
                self._variables[words[1]] = words[3]
            behind = looping or _BACKGROUND.search(piece.operator) is not None
            command = self._command(words, piece, prefix, inputs, behind=behind)
            inputs = command.words if command is not None and piece.operator == "|" else []
            if command is not None:
                yield command

    def _command(
        self, words: Sequence[str], piece: SimpleCommand, prefix: str, inputs: Sequence[str], *, behind: bool
    ) -> ShellCommand | None:
        found = [self._with_values(word) for word in words]
        found = found[self._assigned(found) :]
        found = _unwrapped(found)
        if found[:1] in (["export"], ["declare"]):
            self._assigned(found[1:])
        if found[:1] == ["cd"]:
            self._directory = (
                posixpath.normpath(posixpath.join(self._directory, found[1])) if found[1:] else ""
            )
        fed = "".join(word for operator, word in piece.redirections if operator.startswith(HERE_STRING))
        writes = [self._with_values(word) for operator, word in piece.redirections if _writes(operator, word)]
        found += [word for operator, word in piece.redirections if operator == "<"]
        if not found and not writes:
            return None
        line = prefix + piece.line
        return ShellCommand(found, line, fed, writes, self._directory, behind, list(inputs))

    def _assigned(self, words: Sequence[str]) -> int:
        """Store the variable assignments at the start of the words. Return the number of assignments."""
        for number, word in enumerate(words):
            assigned = _ASSIGNMENT.fullmatch(word)
            if assigned is None:
                return number
            self._variables[assigned[1]] = assigned[2]
        return len(words)

    def _with_values(self, word: str) -> str:
        return _VARIABLE.sub(lambda found: self._variables.get(found[1] or found[2], found[0]), word)


def _writes(operator: str, word: str) -> bool:
    """Return True if a redirection writes a file. `2>&1` does not."""
    return ">" in operator and not (operator.endswith("&") and (word.isdigit() or word == "-"))


def _unwrapped(words: list[str]) -> list[str]:
    """Return the command without programs that only start another program: `sudo`, `timeout 5`, `env A=B`."""
    while len(words) > 1 and posixpath.basename(words[0]) in WRAPPER_PROGRAMS:
        words = words[1:]
        while len(words) > 1 and (
            words[0].startswith("-") or _ASSIGNMENT.fullmatch(words[0]) or _DURATION.fullmatch(words[0])
        ):
            words = words[1:]
    return words


def _scripts_in(command: ShellCommand) -> Iterator[str]:
    """Yield the shell scripts that a command starts or writes, and the command substitutions in its words."""
    if command.program in SHELL_PROGRAMS:
        options = [word for word in command.arguments if word.startswith("-") and not word.startswith("--")]
        if any("c" in word for word in options):
            yield from (word for word in command.arguments if not word.startswith("-"))
        else:
            yield command.stdin_text or printed_text(command.piped_words)
    elif command.program == "eval":
        yield " ".join(command.arguments)
    elif command.stdin_text and (
        _is_script(command.stdin_text) or any(path.endswith(".sh") for path in command.output_files)
    ):
        yield command.stdin_text
    for word in command.words:
        yield from substitutions_in(word)


def _is_script(text: str) -> bool:
    head = text.lstrip().partition("\n")[0]
    return head.startswith("#!") and head.rstrip().endswith(SHELL_PROGRAMS)


def _codes_in(command: ShellCommand) -> Iterator[EmbeddedProgram]:
    """Yield the programs in other languages that a command runs. They are in its arguments or its input."""
    if not INTERPRETER_PATTERN.fullmatch(command.program):
        return
    for option, word in zip(command.arguments, command.arguments[1:], strict=False):
        if option in ("-c", "-e"):
            yield EmbeddedProgram(word, command.line)
    if command.stdin_text:
        yield EmbeddedProgram(command.stdin_text, command.line)
