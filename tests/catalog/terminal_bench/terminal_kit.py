"""Small tasks in both layouts of Terminal-Bench, written by the tests; their images are made on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.catalog.containers.workshop import WORKSHOP

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH, TERMINAL_BENCH_1
from benchwright.catalog.terminal_bench.benchmark import make
from benchwright.data.datasets import Source, find_dataset
from benchwright.records import Sample

HELLO = 'Write "Hello, world!" to the file /app/hello.txt.'
SOLVE_HELLO = 'echo "Hello, world!" > /app/hello.txt'

TEST_SH = """\
#!/bin/bash
if grep -qx "Hello, world!" hello.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""

RUN_TESTS = """\
echo "=========================== short test summary info ============================"
if [ "$(cat hello.txt)" = "Hello, world!" ]; then
    echo "PASSED $TEST_DIR/test_outputs.py::test_says_hello"
else
    echo "FAILED $TEST_DIR/test_outputs.py::test_says_hello - AssertionError: another text"
fi
"""

TEST_HELLO = """\
from pathlib import Path


def test_is_there():
    assert Path("/app/hello.txt").exists()


def test_says_hello():
    assert Path("/app/hello.txt").read_text().strip() == "Hello, world!"
"""

RUN_PYTEST = "python -m pytest -p no:cacheprovider -rA $TEST_DIR/test_outputs.py\n"

DOCKERFILE = f"FROM {WORKSHOP}\nWORKDIR /app\n"

COMPOSE = """\
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [ "sh", "-c", "sleep infinity" ]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
      - ${T_BENCH_TASK_AGENT_LOGS_PATH}:${T_BENCH_CONTAINER_AGENT_LOGS_PATH}
"""


def write_files(folder: Path, files: Mapping[str, str | None]) -> Path:
    """Writes files below a folder; those that are None are left out."""
    for name, text in files.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def write_harbor(root: Path, name: str = "hello-world", **changes: Any) -> Path:
    """Writes a task of Terminal-Bench 2.0.

    `files` replaces files of it, `sections` are texts of further tables or keys of task.toml, by table.
    """
    sections = {
        "metadata": 'difficulty = "easy"\ncategory = "file-operations"',
        "verifier": "timeout_sec = 60.0",
        "agent": "timeout_sec = 60.0",
        "environment": f'docker_image = "{WORKSHOP}"\nworkdir = "/app"\nmemory = "256M"\nstorage = "64M"\n'
        "allow_internet = false",
        **changes.get("sections", {}),
    }
    toml = "".join(f"[{table}]\n{text}\n\n" for table, text in sections.items())
    files = {
        "task.toml": f'version = "1.0"\n\n{toml}',
        "instruction.md": f"{changes.get('instruction', HELLO)}\n",
        "solution/solve.sh": f"#!/bin/bash\n{changes.get('solution', SOLVE_HELLO)}\n",
        "tests/test.sh": changes.get("test", TEST_SH),
        "tests/test_outputs.py": changes.get("outputs", TEST_HELLO),
        **changes.get("files", {}),
    }
    return write_files(root / name, files)


def write_first(root: Path, name: str = "hello-world", **changes: Any) -> Path:
    """Writes a task of Terminal-Bench 1.0; `files` replaces files of it, `task` adds to task.yaml."""
    task = {
        "instruction": changes.get("instruction", HELLO),
        "author_name": "unknown",
        "difficulty": "easy",
        "category": "file-operations",
        "tags": [],
        "parser_name": "pytest",
        "max_agent_timeout_sec": 60.0,
        "max_test_timeout_sec": 60.0,
        **changes.get("task", {}),
    }
    compose = changes.get("compose", COMPOSE)
    files = {
        "task.yaml": json.dumps(task),
        "Dockerfile": DOCKERFILE,
        "docker-compose.yaml": compose,
        "solution.sh": f"#!/bin/bash\n{changes.get('solution', SOLVE_HELLO)}\n",
        "run-tests.sh": changes.get("test", RUN_TESTS),
        "tests/test_outputs.py": changes.get("outputs", TEST_HELLO),
        **changes.get("files", {}),
    }
    return write_files(root / "tasks" / name, files)


def harbor(**options: str) -> Benchmark:
    """Terminal-Bench 2.0."""
    return make(TERMINAL_BENCH, Options(options))


def official_harbor(**options: str) -> Benchmark:
    """Terminal-Bench 2.0 without its seal."""
    return make(TERMINAL_BENCH, Options(options, sealed=False))


def first(**options: str) -> Benchmark:
    """Terminal-Bench 1.0."""
    return make(TERMINAL_BENCH_1, Options(options))


def source(root: Path, about: About = TERMINAL_BENCH) -> Source:
    """The tasks below a folder."""
    return find_dataset(about.dataset, root, path=root, offline=True)


def read(root: Path, about: About = TERMINAL_BENCH) -> list[Sample]:
    """Their samples."""
    return list(make(about, Options()).samples(source(root, about)))
