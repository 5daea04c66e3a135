"""Scorers of users on the command line: `--scorer MODULE:NAME`, and behind an entry point."""

from __future__ import annotations

import pytest
from tests.app.app_kit import Program

SCORERS = """
from benchwright import Score

def same(answer, target):
    return answer == target

async def unsure(answer):
    return None

class Longest:
    name, fingerprint = "longest", "longest 1"

    async def score(self, sample, outcome, session):
        return Score(float(len(outcome.answer)), span=outcome.answer[:1])
"""


@pytest.fixture
def own(program: Program) -> Program:
    program.write("my_scorers.py", SCORERS)
    program.rows(4)
    return program


def command(url: str, *scorers: str) -> list[str]:
    named = [word for scorer in scorers for word in ("--scorer", scorer)]
    return ["eval", "-d", "rows.jsonl", "--model", "m", "--base-url", url, *named]


def test_functions_classes_and_built_in_ones_stand_side_by_side(own: Program, echo: str) -> None:
    summary = own.summary(
        *command(echo, "exact", "my_scorers:same", "my_scorers:Longest", "my_scorers:unsure")
    )
    scores = {score.scorer: score for score in summary.targets[0].scores}
    assert {name: score.mean for name, score in scores.items()} == {
        "exact": 1.0, "same": 1.0, "longest": 5.0, "unsure": 0.0
    }  # fmt: skip
    assert scores["unsure"].unparsed == 4


def test_the_rule_is_a_part_of_what_is_cached(own: Program, echo: str) -> None:
    first = own.summary(*command(echo, "my_scorers:same"))
    assert own.summary(*command(echo, "my_scorers:same")).run == first.run
    own.write("my_scorers.py", SCORERS.replace("answer == target", "0.5"))
    changed = own.summary(*command(echo, "my_scorers:same"))
    assert changed.targets[0].scores[0].mean == 0.5


@pytest.mark.parametrize("scorer", ["same", "Longest", "function"])
def test_an_edited_helper_of_a_scorer_is_no_old_verdict(own: Program, echo: str, scorer: str) -> None:
    """A scorer, one that says its own fingerprint, and an eval function; the helper is imported by a helper."""
    own.write("rules.py", "from values import RIGHT\n")
    own.write("values.py", "RIGHT = 1.0\n")
    own.write(
        "helped.py",
        """
from benchwright import Score

def same(answer, target):
    import rules
    return rules.RIGHT

class Longest:
    name, fingerprint = "longest", "longest 1"

    async def score(self, sample, outcome, session):
        from rules import RIGHT
        return Score(RIGHT)

def function(solution_str, ground_truth, extra_info=None):
    from rules import RIGHT
    return RIGHT
""",
    )
    if scorer == "function":
        arguments = [*command(echo, "exact"), "--eval-fn", "helped:function"]
    else:
        arguments = command(echo, f"helped:{scorer}")
    first = own.summary(*arguments)
    assert own.summary(*arguments).run == first.run
    own.write("values.py", "RIGHT = 0.25\n")
    changed = own.summary(*arguments)
    assert changed.run != first.run
    assert changed.targets[0].scores[-1].mean == 0.25


def test_another_process_loads_it_by_its_name(own: Program, echo: str) -> None:
    summary = own.summary(*command(echo, "my_scorers:same"), "--workers", "2", "--batch-size", "2")
    assert summary.targets[0].scores[0].mean == 1.0


def test_one_behind_an_entry_point_has_its_name(own: Program, echo: str) -> None:
    info = own.directory / "site" / "mine-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[benchwright.scorers]\nalike = mine_scorers:same\n")
    (info.parent / "mine_scorers.py").write_text(SCORERS)
    own.forked = False
    path = {"PYTHONPATH": str(info.parent)}
    summary = own.summary(*command(echo, "alike"), **path)
    assert [(score.scorer, score.mean) for score in summary.targets[0].scores] == [("alike", 1.0)]
    unknown = own.run(*command(echo, "alice"), **path)
    assert (
        "Did you mean 'alike'? Scorers: exact, numeric, regex, json, mcq, judge, alike, or your own"
        in unknown.stderr
    )
    (info / "entry_points.txt").write_text("[benchwright.scorers]\nalike = mine_scorers:gone\n")
    broken = own.run(*command(echo, "alike"), **path)
    assert "The scorer 'alike' (mine_scorers:gone) cannot be loaded" in broken.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scorer", "my_scorers:some"], "has no attribute 'some'"),
        (["--scorer", "my_scorers:"], "Invalid scorer path 'my_scorers:'"),
        (["--scorer", "no_such_module:same"], "Cannot import module 'no_such_module'"),
        (["--scorer", "my_scorers:same", "--scorer", "my_scorers:same"], "The scorer 'same' is given twice"),
        (["--scorer", "my_scorers:same", "--scorer-option", "strict=yes"], "has no options"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(own: Program, arguments: list[str], words: str) -> None:
    ended = own.run(
        "eval", "-d", "rows.jsonl", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", *arguments
    )
    assert ended.returncode == 1
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
