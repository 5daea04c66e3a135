"""Splits shell scripts into simple commands: words, redirections, and the operator at the end of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from benchwright.records import Record

HERE_STRING = "<<<"

_PUNCTUATION = "();<>|&\n"
_HEREDOC = re.compile(r"(?<!<)<<(?!<)-?[ \t]*([\"']?)([A-Za-z_][\w.-]*)\1")
_MARK = re.compile("\ue000(\\d+)\ue000")
"""Regular expression for a placeholder. It is replaced by its text when the script has been split into words."""
_OPENING = re.compile(r"\$\(|`")
_BRACKET = re.compile(r"[()]")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


class SimpleCommand(Record, frozen=True):
    """A simple command of a script.

    `operator`: the shell operator after the command. `line`: the line on which it begins. `redirections`:
    pairs of an operator and its word; a here-document becomes a here-string.
    """

    words: list[str]
    redirections: list[tuple[str, str]]
    line: str
    operator: str


def split_commands(script: str) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a script, in order."""
    script = script.replace("\\\n", " ").replace("\ue000", "")
    lines, kept = script.split("\n"), list[str]()
    text = _without_substitutions(_without_heredocs(script, kept), kept)
    words: list[str] = []
    redirections: list[tuple[str, str]] = []
    operator, first = "", 1

    def whole(word: str) -> str:
        while "\ue000" in word:
            word = _MARK.sub(lambda mark: kept[int(mark[1])], word)
        return word

    for token, number in [*_tokens(text), ("\n", len(lines))]:
        if not set(token) <= set(_PUNCTUATION):
            first = first if words or redirections or operator else number
            if operator:
                redirections.append((operator, whole(token)))
            else:
                words.append(whole(token))
            operator = ""
        elif ("<" in token or ">" in token) and "(" not in token:
            operator = token
            if words and words[-1].isdigit():
                words.pop()
        else:
            if words or redirections:
                yield SimpleCommand(words, redirections, lines[first - 1].strip(), token)
            words, redirections, operator = [], [], ""


def _tokens(text: str) -> list[tuple[str, int]]:
    """Return pairs of a token and its line number from 1. If quotes are unbalanced, split the text at blanks."""
    lexer = shlex.shlex(_COMMENT.sub("", text), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    found: list[tuple[str, int]] = []
    number = 1
    try:
        while (token := lexer.get_token()) is not None:
            found.append((token, number))
            number += token.count("\n")
    except ValueError:
        lines = enumerate(text.replace("'", " ").replace('"', " ").split("\n"), 1)
        return [(token, number) for number, line in lines for token in [*line.split(), "\n"]]
    return found


def _without_heredocs(script: str, kept: list[str]) -> str:
    """Replace each here-document by a placeholder, and append the here-document's text to `kept`.

    The number of lines stays the same.
    """
    lines, shown = script.split("\n"), list[str]()
    ends = {line.strip() for line in lines}
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        first = place
        for found in list(_HEREDOC.finditer(line)):
            if found[2] not in ends:
                continue
            end = next((at for at in range(place, len(lines)) if lines[at].strip() == found[2]), None)
            if end is not None:
                mark = _mark("\n".join(lines[place:end]), kept)
                line = line.replace(found[0], f" {HERE_STRING} {mark} ", 1)
                place = end + 1
        shown += [line, *[""] * (place - first)]
    return "\n".join(shown)


def substitutions_in(text: str) -> list[str]:
    """Return the commands in `$(…)` and between backticks. A nested command stays part of the outer command."""
    return [text[start:end].removeprefix("$(").strip("`") for start, end in _substitutions(text)]


def _without_substitutions(text: str, kept: list[str]) -> str:
    """Replace each one-line substitution by a placeholder, so that the substitution does not split a word.

    The substitutions are appended to `kept`.
    """
    parts: list[str] = []
    last = 0
    for start, end in _substitutions(text):
        if "\n" not in text[start:end]:
            parts += [text[last:start], _mark(text[start : end + 1], kept)]
            last = end + 1
    return "".join([*parts, text[last:]])


def _substitutions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each substitution. The first substitution that is not closed ends the search."""
    place = 0
    while (found := _OPENING.search(text, place)) is not None:
        end = text.find("`", found.end()) if found[0] == "`" else _closing(text, found.end())
        if end < 0:
            return
        yield found.start(), end
        place = end + 1


def _closing(text: str, place: int) -> int:
    """Return the position of the bracket that closes the bracket just before `place`.

    Return -1 if no bracket closes it.
    """
    depth = 1
    for found in _BRACKET.finditer(text, place):
        depth += 1 if found[0] == "(" else -1
        if not depth:
            return found.start()
    return -1


def _mark(text: str, kept: list[str]) -> str:
    kept.append(text)
    return f"\ue000{len(kept) - 1}\ue000"
