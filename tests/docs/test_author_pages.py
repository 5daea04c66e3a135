"""The pages about adding a benchmark, a command, a scorer and an export format work as written, in a copy of src/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.app.compare_kit import made, write_run
from tests.docs.documented_lines import ROOT, read_blocks

ADD_BENCHMARK, ADD_COMMAND = "docs/add-a-benchmark.md", "docs/add-a-command.md"
ADD_SCORER, ADD_FORMAT = "docs/add-a-scorer.md", "docs/add-an-export-format.md"


@dataclass
class Copy:
    """A copy of the sources that an author changes, and a directory to work in."""

    directory: Path

    @property
    def package(self) -> Path:
        """The folder of the package `benchwright`."""
        return self.directory / "src" / "benchwright"

    def add(self, module: str, text: str) -> None:
        """Write a new module."""
        path = self.package / module
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)

    def insert(self, module: str, after: str, text: str) -> None:
        """Insert text into a module, after the only place of another one."""
        path = self.package / module
        old = path.read_text()
        assert old.count(after) == 1, (module, after)
        path.write_text(old.replace(after, after + text))

    def register(self, module: str, page: str, entry: str, phrase: str) -> None:
        """Insert an entry at the beginning of the collection that a page names by this phrase, with a gap for it."""
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        named = re.search(re.escape(phrase).replace("NAME", r"(\w+)"), text)
        assert named, f"{page} has no {phrase!r}"
        (start,) = re.findall(rf"^{named[1]}\b.*= [({{]\n", (self.package / module).read_text(), re.M)
        self.insert(module, start, entry)

    def python(self, *arguments: str) -> str:
        """Run Python with the copy; return what it prints."""
        ended = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=self.directory,
            env={
                **os.environ,
                "PYTHONPATH": f"{self.directory / 'src'}:{ROOT}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "BENCHWRIGHT_HOME": str(self.directory / "home"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def run(self, *arguments: str) -> str:
        """Run `benchwright` as the copy has it; return what it prints."""
        return self.python("-m", "benchwright", *arguments)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """The copy; its modules are those that run."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "benchwright", tmp_path / "src" / "benchwright", ignore=ignored)
    return Copy(tmp_path)


def blocks(page: str) -> list[str]:
    """Return the blocks of Python of a page."""
    return [block.text for block in read_blocks(page) if block.language == "python"]


def test_the_benchmark_of_the_page_is_valid(copy: Copy) -> None:
    about, benchmark = blocks(ADD_BENCHMARK)
    copy.add("catalog/gsm8k/about.py", about)
    copy.add("catalog/gsm8k/benchmark.py", benchmark)
    copy.register("catalog/registry.py", ADD_BENCHMARK, '    "gsm8k",\n', 'add `"gsm8k"` to `NAME` in')
    row = {"question": "How much is 6 times 3?", "answer": "It is 6 times 3.\n#### 18"}
    (copy.directory / "data" / "gsm8k").mkdir(parents=True)
    (copy.directory / "data" / "gsm8k" / "test.jsonl").write_text(json.dumps(row) + "\n")
    (line,) = (line for line in copy.run("validate", "gsm8k").splitlines() if line.startswith("gsm8k"))
    assert line.split()[-1] == "ok"


def test_the_command_of_the_page_runs_and_is_listed(copy: Copy) -> None:
    command, entry, _ = blocks(ADD_COMMAND)
    copy.add("cli/disk.py", command)
    copy.register("cli/main.py", ADD_COMMAND, entry, "in `NAME` of `src/benchwright/cli/main.py`")
    copy.insert("cli/main.py", '    "Read results": (\n', '        "disk",\n')
    assert copy.run("disk") == "0.0 MB\n"
    assert json.loads(copy.run("disk", "--json")) == {"bytes": 0}
    assert "Show how much space runs take." in copy.run("--help")


def test_the_scorer_of_the_page_passes_the_test_of_the_page(copy: Copy) -> None:
    scorer, entry, test = blocks(ADD_SCORER)
    copy.add("scorers/contains.py", scorer)
    copy.register(
        "scorers/registry.py", ADD_SCORER, entry, "in `NAME` of `src/benchwright/scorers/registry.py`"
    )
    shutil.copy(ROOT / "tests" / "scorers" / "conftest.py", copy.directory)
    (copy.directory / "test_contains.py").write_text(test)
    assert "1 passed" in copy.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_contains.py")
    found = "from benchwright.scorers.registry import make_scorer as m; print(m('contains').name)"
    assert copy.python("-c", found) == "contains\n"


def test_the_format_of_the_page_is_written(copy: Copy) -> None:
    writer, entry, _ = blocks(ADD_FORMAT)
    copy.insert("app/export.py", "AnyRows = TrialRows | RequestRows\n", f"\n\n{writer}\n\n")
    copy.register("app/export.py", ADD_FORMAT, entry, "in `NAME` at the end of the export module")
    copy.insert("cli/export.py", '"csv", "jsonl", ', '"tsv", ')
    run = write_run(copy.directory / "home" / "runs" / "a", made([1.0, 0.0, 1.0]))
    copy.run("export", str(run), "-o", "trials.tsv")
    header, *lines = (copy.directory / "trials.tsv").read_text().splitlines()
    assert header.startswith("run\tsample\trepeat")
    assert len(lines) == 3
