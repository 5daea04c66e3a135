"""Small tasks in Harbor's format, written by the tests; their images are made on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.catalog.catalog_kit import benchmark
from tests.catalog.containers.running import Played, played
from tests.catalog.containers.workshop import WORKSHOP
from tests.catalog.terminal_bench.terminal_kit import write_files

from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import TaskSettings
from benchwright.catalog.registry import find_about
from benchwright.data.datasets import Source, find_dataset
from benchwright.records import Sample

ENVIRONMENT = f"""\
[environment]
docker_image = "{WORKSHOP}"
workdir = "/app"
memory_mb = 256
storage_mb = 64
network_mode = "no-network"
"""

SAYS_HELLO = """\
#!/bin/bash
if grep -qx hello /app/hello.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


def write_task(
    root: Path, name: str, toml: str = "", *, before: str = "", files: Mapping[str, str | None] | None = None
) -> Path:
    """Writes a task that wants `hello` in hello.txt; `toml` is what its file says besides, `before` what at its top."""
    return write_files(
        root / name,
        {
            "task.toml": f"{before}\n{ENVIRONMENT}{toml}",
            "instruction.md": f"Task {name}: write hello to hello.txt.\n",
            "solution/solve.sh": "#!/bin/bash\necho hello > /app/hello.txt\n",
            "tests/test.sh": SAYS_HELLO,
            **(files or {}),
        },
    )


def source(root: Path) -> Source:
    """The tasks below a folder."""
    return find_dataset(find_about(f"harbor:{root}").dataset, root, offline=True)


def samples(root: Path) -> list[Sample]:
    """Their samples."""
    return list(benchmark(f"harbor:{root}").samples(source(root)))


def settings(root: Path) -> TaskSettings:
    """The settings of the only task."""
    (sample,) = samples(root)
    return settings_of(sample)


def script(prompt: str, *commands: str) -> dict[str, Any]:
    """A script of a model that gives one command after the other, and then is done."""
    calls = [{"name": "bash", "arguments": json.dumps({"command": command})} for command in commands]
    replies: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
        for call in calls
    ]
    return {"prompt": prompt, "replies": [*replies, {"role": "assistant", "content": "Done."}]}


async def run(
    root: Path, directory: Path, *scripts: dict[str, Any], sealed: bool = True, **options: str
) -> Played:
    """Runs the tasks below a folder against a model that does as the scripts say."""
    tasks = benchmark(f"harbor:{root}", options, sealed=sealed)
    return await played(tasks, source(root), directory, scripts)
