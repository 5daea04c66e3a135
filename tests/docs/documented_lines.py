"""The blocks of README.md and docs/, their shell lines, and the marks of lines that cannot run here.

A comment right before a block says why it is not run, and is not rendered:

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

_FENCED = re.compile(
    r"(?:^<!-- not run: (?P<mark>.*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
_PROGRAMS = ("benchwright ", "llm-bench ", "pip install ", "make ")


class Line(NamedTuple):
    """A command as it stands on the page, continued lines and all, and why it is not run (None: it is run)."""

    text: str
    mark: str | None = None

    @property
    def command(self) -> str:
        """The command on one line, without its comment."""
        return re.sub(r"\s+#.*", "", " ".join(self.text.replace("\\\n", " ").split()))


class Block(NamedTuple):
    """A fenced block: its page, the number of its first line, its language and text."""

    page: str
    number: int
    language: str
    text: str
    mark: str | None

    @property
    def lines(self) -> list[Line]:
        """The commands of a block of shell lines."""
        texts = re.findall(r"(?:.*\\\n)*.+", self.text)
        words = re.findall(r'"([^"]+)"', self.mark or "")
        reason = re.sub(r':?( "[^"]+")+', "", self.mark or "")
        lines = [
            Line(text, reason if self.mark and (not words or _has_any(text, words)) else None)
            for text in texts
        ]
        unused = [word for word in words if not _has_any(self.text, [word])]
        assert not unused, f"{self.page}:{self.number}: no line has {unused}, which its mark names"
        return lines


def _has_any(text: str, words: list[str]) -> bool:
    return any(word in text for word in words)


def read_blocks(page: str) -> list[Block]:
    """Return all fenced blocks of a page, in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("text")) + 1,
            found["language"],
            found["text"],
            found["mark"],
        )
        for found in _FENCED.finditer(text)
    ]


def shell_blocks(page: str) -> list[Block]:
    """Return the blocks of a page that a reader pastes into a shell."""
    return [block for block in read_blocks(page) if block.language == "bash"]


def looks_like_shell(block: Block) -> bool:
    """Return True if a line of a block starts one of the programs that the pages are about."""
    return any(line.startswith(_PROGRAMS) for line in block.text.splitlines())


def marks_without_block(page: str) -> list[str]:
    """Return the marks of a page that stand before no block of shell lines."""
    marks: list[str] = re.findall(r"<!-- not run:.*?-->", (ROOT / page).read_text(encoding="utf-8"), re.S)
    used = [f"<!-- not run: {block.mark} -->" for block in shell_blocks(page) if block.mark]
    return [mark for mark in marks if mark not in used]
