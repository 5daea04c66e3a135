"""Two quantizations of the model, each behind a server of its own, compared sample by sample."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import trials
from tests.field.field_kit import CAPITALS, ONE_SENTENCE, PRECISE, STORIES, Field, finish
from tests.field.kept import requantized
from tests.field.servers.llama_cpp import compiled
from tests.field.servers.server import MODEL

from benchwright.analysis.summary_records import RunSummary
from benchwright.runs.journal import read_body
from benchwright.statistic import numeric_statistics

COARSE = "Q2_K"
MODELS = """
[[models]]
name = "fine"
model = "{model}"
base_url = "{fine}"

[[models]]
name = "coarse"
model = "{model}"
base_url = "{coarse}"
"""


@pytest.mark.feature("compared")
def test_two_quantizations_are_compared_pair_by_pair(
    field: Field, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with compiled(tmp_path_factory.mktemp("coarse"), requantized(COARSE)) as coarse:
        text = MODELS.format(model=MODEL, fine=field.running.base_url, coarse=coarse.base_url)
        models, rows = field.program.write("models.toml", text), field.rows([*CAPITALS, *STORIES])
        options = ("--scorer", "regex", "--max-tokens", "24", *ONE_SENTENCE, *PRECISE)
        ended = finish(field.program.start("eval", "-d", rows, "--models", models, *options, "--json"))
    assert ended.returncode == 0, ended.stderr
    summary = msgspec.json.decode(ended.stdout, type=RunSummary)
    fine, coarsened = summary.targets
    (difference,) = summary.differences
    assert difference.n == fine.trials == coarsened.trials == len(CAPITALS) + len(STORIES)
    assert difference.wins + difference.losses + difference.ties == difference.n
    first, second = numeric_statistics(target.scores[0].mean for target in (fine, coarsened))
    assert abs(difference.difference) == pytest.approx(abs(first - second))
    assert difference.wins - difference.losses == round(difference.n * difference.difference)
    assert difference.low is not None
    assert difference.high is not None
    assert difference.low <= difference.difference <= difference.high
    by_slot = answers(field.program.only_run)
    assert by_slot["primary"] != by_slot["model-2"], "two quantizations that answer alike are one"
    assert finish(field.program.start("compare", summary.run)).returncode == 0


def answers(run: Path) -> dict[str, dict[str, str]]:
    """Return the answers of a run by the slot of the target, then by sample."""
    found: dict[str, dict[str, str]] = {}
    for trial in trials(run):
        found.setdefault(trial.target, {})[trial.sample] = read_body(run, trial).answer
    return found
