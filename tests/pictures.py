"""Makes the pictures of the README from real runs of two simulated models: `make pictures`.

docs/pictures/terminal.svg is what `runs` and `compare` print on a terminal, docs/pictures/viewer.png the page of a run.
Needs Chromium.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tests.app.app_kit import Program
from tests.browser import started_chromium
from tests.simulated import simulated_endpoint
from tests.terminal import on_a_terminal
from tests.web.web_kit import viewing

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 88
EVAL = "eval -d questions.jsonl --scorer mcq --n 5 --group-by category --concurrency 4"
TEMPLATE = "The answer is {answer}"
START = 15
"""Characters of an id that say when the run was started."""
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect width="{width}" height="{height}" rx="8" fill="#292929"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    questions = [
        json.loads(line) for line in (ROOT / "examples" / "questions.jsonl").read_text().splitlines()
    ]
    answers = [{"prompt": row["question"], "answer": row["answer"]} for row in questions]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder))
        shutil.copy(ROOT / "examples" / "questions.jsonl", program.directory)
        for model, accuracy, first_token in (("simulated-7b", "0.7", "60"), ("simulated-70b", "0.9", "140")):
            options = [
                "--accuracy",
                accuracy,
                "--first-token",
                first_token,
                "--between-tokens",
                "8",
                "--seed",
                "7",
            ]
            with simulated_endpoint(*options, "--answer-template", TEMPLATE, answers=answers) as url:
                command = [*EVAL.split(), "--model", model, "--base-url", url]
                if program.run(*command).returncode:
                    return 1
        program.end()
        older, newer = (run.name for run in program.runs)
        commands = ["runs", f"compare {older[:START]} {newer[:START]}"]
        shown = [
            (f"benchwright {one}", on_a_terminal(program, one.split(), columns=COLUMNS)) for one in commands
        ]
        draw_terminal([(command, ended.text) for command, ended in shown], PICTURES / "terminal.svg")
        photograph_viewer(program, newer, PICTURES / "viewer.png")
        program.end()
    return max(ended.code for _, ended in shown)


def draw_terminal(shown: Sequence[tuple[str, str]], path: Path) -> None:
    """Commands, and what each has left on a terminal, as SVG."""
    with open("/dev/null", "w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        for command, text in shown:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            console.print(Text.from_ansi(text.replace("\r\n", "\n").rstrip()), "", sep="\n")
    path.write_text(console.export_svg(title="", code_format=SVG, unique_id="terminal"))


def photograph_viewer(program: Program, run: str, path: Path) -> None:
    """The page of a run."""
    with (
        viewing(program) as viewer,
        started_chromium() as chromium,
        viewer.browser(chromium, width=1100, height=760, device_scale_factor=1.5) as watched,
    ):
        viewer.open(watched.page, f"/runs/{run}")
        watched.page.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(main())
