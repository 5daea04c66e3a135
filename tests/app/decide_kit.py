"""What the tests of `--until` share: two models whose answers are known, and commands that compare them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from tests.app.app_kit import Program
from tests.matrix_server import MatrixServer, matrix_server, rows

SAMPLES = 300


def answers(gap: float, *, samples: int = SAMPLES, seed: int = 1) -> dict[str, list[float]]:
    """Right and wrong answers of two models, the new one better by about so much; easy rows are easy for both."""
    generator = np.random.default_rng(seed)
    ease = generator.beta(0.6, 0.6, samples)
    old, new = ease - gap / 2, ease + gap / 2
    draws = generator.random((2, samples))
    return {
        name: (draw < np.clip(chance, 0, 1)).astype(float).tolist()
        for name, draw, chance in (("old", draws[0], old), ("new", draws[1], new))
    }


class Decider:
    """A project with rows, and the commands that ask models about them."""

    def __init__(self, program: Program, server: MatrixServer, samples: int = SAMPLES) -> None:
        self.program, self.server = program, server
        self.environment = {"OSMOSIS_CACHE_DIR": str(program.directory / "cache")}
        program.write("rows.jsonl", rows(samples))

    def command(
        self, *more: str, models: tuple[str, ...] = ("old", "new"), data: str = "rows.jsonl"
    ) -> list[str]:
        """An evaluation of these models, one JSON object on stdout."""
        named = [word for model in models for word in ("--model", model)]
        return ["eval", "-d", data, "--scorer", "exact", *named, "--base-url", self.server.base_url,
                "--no-stream", "--concurrency", "4", "--json", *more]  # fmt: skip

    def run(self, *more: str, code: int = 0, **how: Any) -> dict[str, Any]:
        """Runs it; returns what it printed."""
        ended = self.program.run(*self.command(*more, **how), **self.environment)
        assert ended.returncode == code, ended.stderr
        assert "Traceback" not in ended.stderr
        printed: dict[str, Any] = json.loads(ended.stdout)
        return printed

    def refused(self, *more: str, **how: Any) -> str:
        """Runs a command that must be refused before a model is asked; returns why."""
        before = self.server.asked.total()
        ended = self.program.run(*self.command(*more, **how), **self.environment)
        assert ended.returncode in (1, 2), ended.stdout
        assert self.server.asked.total() == before
        return ended.stderr


@contextmanager
def deciding(program: Program, right: dict[str, list[float]]) -> Iterator[Decider]:
    """A project in front of a server whose models answer so."""
    with matrix_server(right) as server:
        yield Decider(program, server, len(next(iter(right.values()))))
