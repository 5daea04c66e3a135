"""Makes the pictures of the README from a real run of two simulated models: `make pictures`.

docs/pictures/terminal.svg is what `benchwright eval` prints on a terminal; docs/pictures/viewer.png is the page of that
run. Needs Chromium.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
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
COLUMNS = 96
COMMAND = "benchwright eval -d questions.jsonl --scorer mcq --n 5 --models models.toml -q"
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
    template = ("--answer-template", "The answer is {answer}", "--seed", "7", "--policy", "words")
    with (
        tempfile.TemporaryDirectory() as folder,
        simulated_endpoint("--accuracy", "0.7", "--first-token", "60", *template, answers=answers) as small,
        simulated_endpoint("--accuracy", "0.9", "--first-token", "140", *template, answers=answers) as large,
    ):
        program = Program(Path(folder))
        shutil.copy(ROOT / "examples" / "questions.jsonl", program.directory)
        entries = {"simulated-7b": small, "simulated-70b": large}
        program.write(
            "models.toml",
            "".join(f'[[models]]\nmodel = "{name}"\nbase_url = "{url}"\n' for name, url in entries.items()),
        )
        shown = on_a_terminal(program, COMMAND.split()[1:], columns=COLUMNS)
        draw_terminal(shown.text, PICTURES / "terminal.svg")
        photograph_viewer(program, PICTURES / "viewer.png")
        program.end()
    return shown.code


def draw_terminal(text: str, path: Path) -> None:
    """What a command has left on a terminal, as SVG."""
    with open("/dev/null", "w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.assemble(("$ ", "bold green"), (COMMAND, "bold")))
        console.print(Text.from_ansi(text.replace("\r\n", "\n").rstrip()))
    path.write_text(console.export_svg(title="", code_format=SVG, unique_id="terminal"))


def photograph_viewer(program: Program, path: Path) -> None:
    """The page of the only run."""
    with (
        viewing(program) as viewer,
        started_chromium() as chromium,
        viewer.browser(chromium, width=1100, height=760, device_scale_factor=1.5) as watched,
    ):
        viewer.open(watched.page, f"/runs/{program.only_run.name}")
        watched.page.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(main())
