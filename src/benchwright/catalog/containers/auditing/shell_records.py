"""What a shell script comes to, as far as it can be told without running it."""

from __future__ import annotations

import posixpath
from typing import Literal

from benchwright.records import Record

How = Literal["redirect", "copy", "move", "link", "edit", "delete"]


class ShellCommand(Record, frozen=True):
    """A simple command: its words without redirections, variables put in where their values are known.

    `line` is the line of the script. `fed` is what a here-document or here-string gives it, `writes` are the files that
    its output goes to. `directory` is where it runs, "" where that is not known. It is `behind` in the background or
    in a loop that waits. `inputs` are the words of the command whose output it is given.
    """

    words: list[str]
    line: str
    fed: str = ""
    writes: list[str] = []
    directory: str = ""
    behind: bool = False
    inputs: list[str] = []

    @property
    def program(self) -> str:
        """The name of the program, without its folder."""
        return posixpath.basename(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> list[str]:
        """The words after the program."""
        return self.words[1:]

    def path(self, word: str) -> str:
        """A word as a path, from the root where the directory is known."""
        return posixpath.normpath(posixpath.join(self.directory, word)) if word else ""


class Code(Record, frozen=True):
    """A program in another language than the shell's: given on the command line, fed, or written to a file."""

    text: str
    line: str


class Writing(Record, frozen=True):
    """A file that is written, moved, replaced by a link, or deleted; `content` as far as it is known.

    `source` is the file that is copied, moved or linked there.
    """

    path: str
    how: How
    content: str = ""
    line: str = ""
    source: str = ""


class ShellScript(Record, frozen=True):
    """All that a script does, scripts within it included."""

    commands: list[ShellCommand] = []
    codes: list[Code] = []
    writings: list[Writing] = []
