"""Where a page is read: its directory, the servers and files that are there, and what the page's texts stand for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.documented_lines import read_blocks
from tests.programs import run_benchwright


@dataclass
class Setting:
    """Where a page is read: its directory, the model's and the judge's addresses, and what is to be ended after it."""

    page: str
    directory: Path
    variables: dict[str, str]
    model: str
    judge: str
    ending: ExitStack
    replacements: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The directory of runs."""
        return Path(self.variables["BENCHWRIGHT_HOME"])

    def block(self, language: str, sign: str, page: str = "") -> str:
        """Return the text of the first block of a page in a language that contains a text; by default of this page."""
        found = (
            one.text
            for one in read_blocks(page or self.page)
            if one.language == language and sign in one.text
        )
        return next(found)

    def write(self, name: str, text: str) -> None:
        """Write a file of the reader's; addresses in it are the ones here."""
        for documented, here in self.replacements.items():
            text = text.replace(documented, here)
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> None:
        """Run `benchwright` as the reader did before the page."""
        ended = run_benchwright(arguments, directory=self.directory, environment=self.variables)
        assert ended.returncode == 0, ended.stderr


SetUp = Callable[[Setting], None]
"""Sets up, before a page is read, what a placeholder of the page stands for."""
