"""The blocks of README.md and docs/, their shell lines, and the marks of lines that cannot run here.

Comments right before a block say why it is not run, and are not rendered:

    <!-- not run: needs a GPU -->
    <!-- not run: asks package registries: "agents install" "--latest" -->

The second form marks only the lines that contain one of the quoted texts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))

NEEDS_ENGINE = "needs a container engine"
"""The mark of lines that run only beside a container engine."""

BY_NEWCOMER = "tests/newcomer.py runs it, as it installs packages"
"""The mark of lines that `make test-all` runs in an empty environment."""

_FENCED = re.compile(
    r"(?P<marks>(?:^<!-- not run: [^>]* -->\n)*)^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
_MARK = re.compile(r"<!-- not run: (.*?) -->")
_PROGRAMS = ("benchwright ", "llm-bench ", "pip install ", "make ")


class Line(NamedTuple):
    """A command as it stands on the page, continued lines and all, and why it is not run (None: it is run)."""

    text: str
    mark: str | None = None

    @property
    def command(self) -> str:
        """The command on one line, without its comment."""
        return re.sub(r"\s+#.*", "", " ".join(self.text.replace("\\\n", " ").split()))


class Mark(NamedTuple):
    """Why lines of a block are not run: those that contain one of the words, without words all."""

    reason: str
    words: list[str]

    def is_on(self, text: str) -> bool:
        """Return True if the line with this text is marked."""
        return not self.words or any(word in text for word in self.words)


class Block(NamedTuple):
    """A fenced block: its page, the number of its first line, its language, text and marks."""

    page: str
    number: int
    language: str
    text: str
    marks: list[Mark]

    @property
    def lines(self) -> list[Line]:
        """The commands of a block of shell lines."""
        texts = re.findall(r"(?:.*\\\n)*.+", self.text)
        unused = [word for mark in self.marks for word in mark.words if word not in self.text]
        assert not unused, f"{self.page}:{self.number}: no line has {unused}, which its mark names"
        return [
            Line(text, next((mark.reason for mark in self.marks if mark.is_on(text)), None)) for text in texts
        ]


def read_blocks(page: str) -> list[Block]:
    """Return all fenced blocks of a page, in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("text")) + 1,
            found["language"],
            found["text"],
            [_read_mark(mark) for mark in _MARK.findall(found["marks"])],
        )
        for found in _FENCED.finditer(text)
    ]


def _read_mark(text: str) -> Mark:
    return Mark(re.sub(r':?( "[^"]+")+$', "", text), re.findall(r'"([^"]+)"', text))


def shell_blocks(page: str) -> list[Block]:
    """Return the blocks of a page that a reader pastes into a shell."""
    return [block for block in read_blocks(page) if block.language == "bash"]


def looks_like_shell(block: Block) -> bool:
    """Return True if a line of a block starts one of the programs that the pages are about."""
    return any(line.startswith(_PROGRAMS) for line in block.text.splitlines())


def count_idle_marks(page: str) -> int:
    """Return the number of marks of a page that stand before no block of shell lines."""
    marks = _MARK.findall((ROOT / page).read_text(encoding="utf-8"))
    return len(marks) - sum(len(block.marks) for block in shell_blocks(page))
