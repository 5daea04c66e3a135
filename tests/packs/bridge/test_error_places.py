"""Where in a pack's files an error was thrown: file and line with the reason, the stack in the log."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packs.bridge.bridge_kit import ENTRY, Log, failure, running, scenario_pack, write_pack

from benchwright.errors import ExecutionError
from benchwright.packs.bridge.error_location import location_in_pack

PYTHON = """
def list_scenarios():
    return [{"id": "A-01", "title": "A"}]

def prepare(context):
    def run_scenario(input, emit):
        return deeper()
    return {"run_scenario": run_scenario}

def deeper():
    raise KeyError("prompt")

def score_model_results(results):
    return {"totalScore": 0, "categories": []}
"""


async def test_a_scenario_that_throws_names_file_and_line_and_logs_its_stack(tmp_path: Path) -> None:
    log = Log()
    pack = scenario_pack(tmp_path, throws="const given = {};\ngiven.tools.map((tool) => tool);")
    line = (pack / ENTRY).read_text().splitlines().index("given.tools.map((tool) => tool);") + 1
    async with running(pack, log=log) as process:
        reason = str(await failure(process, "throws"))
    assert reason.endswith(f"(dist/benchlocal/index.js:{line})")
    (stack,) = [data for level, message, data in log if level == "error" and "TypeError" in message]
    assert f"index.js:{line}:" in stack


async def test_in_python_it_is_the_innermost_line_of_the_pack(tmp_path: Path) -> None:
    pack = write_pack(tmp_path, {"pack.py": PYTHON})
    async with running(pack, entry="pack.py") as process:
        reason = str(await failure(process, "A-01"))
    assert reason.endswith("KeyError: 'prompt' (pack.py:11)")


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"index.mjs": "const a = 1;\nconst b = ;\n"}, "index.mjs:2"),
        ({"index.cjs": "const a = 1;\nconst b = ;\n"}, "index.cjs:2"),
        (
            {"index.mjs": "import './deep/more.mjs';\n", "deep/more.mjs": "\n\nlet let = 1;\n"},
            "deep/more.mjs:3",
        ),
    ],
)
async def test_a_syntax_error_is_named_with_its_file_and_line(
    tmp_path: Path, files: dict[str, str], place: str
) -> None:
    pack = write_pack(tmp_path, files)
    with pytest.raises(ExecutionError) as told:
        async with running(pack, entry=next(iter(files))):
            pass
    assert str(told.value).startswith("the pack did not load: SyntaxError: ")
    assert str(told.value).endswith(f"({place})")


def test_frames_outside_the_pack_are_not_its_own(tmp_path: Path) -> None:
    stack = "Error: x\n    at read (node:fs:441:20)\n    at /usr/lib/library.js:3:1\n"
    assert location_in_pack(stack, tmp_path) is None
    inside = f"{stack}    at run (file://{tmp_path}/index.mjs:7:9)\n    at {tmp_path}/main.mjs:1:1\n"
    assert location_in_pack(inside, tmp_path) == "index.mjs:7"
