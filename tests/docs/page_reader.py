"""The fixtures of tests that read a page: servers of models, and the directory that the page speaks of."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.catalog.made_up_rows import write_all
from tests.catalog.played import scripts
from tests.docs.documented_lines import ROOT, shell_blocks
from tests.docs.page_setting import Setting
from tests.docs.page_shell import forked_programs
from tests.docs.stand_in_data import BENCHMARKS
from tests.docs.stand_ins import STAND_INS
from tests.simulated import simulated_endpoint

OWN_SETTINGS = ("BENCHWRIGHT_", "OPENAI_", "HF_", "OSMOSIS_")
"""Beginnings of variables of whoever runs the tests, which a reader does not have."""

OpenPage = Callable[..., Setting]
"""(page, mark of the lines to run, by default none) -> where the page is read."""


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of a model that knows all answers, and of one that finds all answers right and plays customers."""
    data = write_all(tmp_path_factory.mktemp("rows") / "data", BENCHMARKS)
    played = {name: asyncio.run(scripts(name, data / name)) for name in BENCHMARKS}
    verdicts = [
        {"prompt": "<<TASK", "answer": "SCORE: 1"},
        {"prompt": "Judge whether the following", "answer": "correct: yes"},
    ]
    with (
        simulated_endpoint(
            scripts=[one for of_one in played.values() for one in of_one], answers=answers()
        ) as model,
        simulated_endpoint(scripts=played["tau_bench"] + played["tau2_bench"], answers=verdicts) as judge,
    ):
        yield model, judge


def answers() -> list[dict[str, object]]:
    """Return the right answers to the rows of examples/, and to those of the stand-ins."""
    key: list[dict[str, object]] = [
        {"prompt": row["question"], "answer": row["answer"]} for row in example_rows("questions.jsonl")
    ]
    key += [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in example_rows("arithmetic.jsonl")
    ]
    key += [{"prompt": "6 times 7", "answer": "42"}, {"prompt": "9 minus 4", "answer": "5"}]
    capitals: dict[str, str] = runpy.run_path(str(ROOT / "examples" / "capitals.py"))["CAPITALS"]
    return key + [
        {"prompt": f"the capital of {country}?", "answer": city} for country, city in capitals.items()
    ]


def example_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of examples/."""
    return [json.loads(line) for line in (ROOT / "examples" / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def open_page(tmp_path: Path, servers: tuple[str, str]) -> Iterator[OpenPage]:
    """What lays out the directory that a page speaks of, and sets up what its lines name."""
    with ExitStack() as ending:
        programs = ending.enter_context(forked_programs())

        def open_one(page: str, mark: str | None = None) -> Setting:
            directory = tmp_path / "place"
            lines = [
                line for block in shell_blocks(page) for line in block.lines if line.mark in (None, mark)
            ]
            inside = any("examples/" in line.text for line in lines)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(
                ROOT / "examples", directory / "examples" if inside else directory, ignore=ignored
            )
            variables = {
                **{name: value for name, value in os.environ.items() if not name.startswith(OWN_SETTINGS)},
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(tmp_path / "reader"),
                "BENCHWRIGHT_HOME": str(tmp_path / "home"),
                "BENCHWRIGHT_BASE_URL": servers[0],
                "NO_PROXY": "*",
            }
            setting = Setting(page, directory, variables, *servers, ending)
            for stand_in in STAND_INS:
                if any(stand_in.is_in(line) for line in lines):
                    stand_in.set_up(setting)
            return setting

        yield open_one
