"""Records of the actions of a shell script, as far as they are known without running the script."""

from __future__ import annotations

import posixpath
from typing import Literal

from benchwright.records import Record

WriteMethod = Literal["redirect", "copy", "move", "link", "edit", "delete"]


class ShellCommand(Record, frozen=True):
    """A simple command: its words without redirections, with variables replaced if their values are known.

    - `line`: the command's line in the script.
    - `stdin_text`: the text of a here-document or here-string.
    - `output_files`: the files to which the output is written.
    - `directory`: the working directory; "" if unknown.
    - `runs_in_background`: True if the command runs in the background, or in a loop that waits.
    - `piped_words`: the words of the preceding command, if its output is piped into this command.
    """

    words: list[str]
    line: str
    stdin_text: str = ""
    output_files: list[str] = []
    directory: str = ""
    runs_in_background: bool = False
    piped_words: list[str] = []

    @property
    def program(self) -> str:
        """The name of the program, without its folder."""
        return posixpath.basename(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> list[str]:
        """The words after the program."""
        return self.words[1:]

    def resolve_path(self, word: str) -> str:
        """Return a word as a path. It becomes absolute if the working directory is known."""
        return posixpath.normpath(posixpath.join(self.directory, word)) if word else ""


class EmbeddedProgram(Record, frozen=True):
    """A program in another language than shell, passed as an argument, by standard input or as a file."""

    text: str
    line: str


class FileWrite(Record, frozen=True):
    """A file that a command writes, moves, replaces by a link, or deletes.

    `content`: the written text, as far as it is known. `source_path`: the file from which the content is copied or
    moved, or to which the link points.
    """

    path: str
    method: WriteMethod
    content: str = ""
    line: str = ""
    source_path: str = ""


class ShellScript(Record, frozen=True):
    """All actions of a script, including the actions of scripts within the script."""

    commands: list[ShellCommand] = []
    programs: list[EmbeddedProgram] = []
    file_writes: list[FileWrite] = []
