"""`evaluate`: a run from Python is the run that the command makes, wherever it is called from."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.api.conftest import ROWS
from tests.app.eval_kit import Server
from tests.programs import run_benchwright

from benchwright import (
    Outcome,
    RunUnfinished,
    Sample,
    Score,
    Session,
    TaskSpec,
    Trial,
    UserError,
    compare,
    evaluate,
    evaluate_async,
    load_run,
    runs,
)

pytestmark = pytest.mark.usefixtures("place")


def same(answer: str, target: str) -> bool:
    return answer == target


def score_of(summary: Any, name: str) -> Any:
    (score,) = [score for score in summary.targets[0].scores if score.scorer == name]
    return score


class TestARun:
    def test_it_comes_to_a_summary_and_to_rows(self, echo: str) -> None:
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, n=2)
        assert result.summary.state == "finished"
        assert score_of(result.summary, "exact").mean == 1.0
        assert [trial.scores for trial in result.load().trials] == [{"exact": 1.0}] * ROWS * 2

    def test_it_is_the_run_of_the_same_command(self, echo: str) -> None:
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo)
        again = run_benchwright(
            ["eval", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m", "--base-url", echo],
            directory=Path.cwd(),
            environment=dict(os.environ),
        )
        assert "Evaluation already completed (cached)." in again.stdout
        assert str(result.directory) in again.stdout

    def test_the_same_call_asks_nothing_again(self, server: Server) -> None:
        first = evaluate("rows.jsonl", "again", scorer="exact", base_url=server.base_url)
        asked = server.asked()
        second = evaluate("rows.jsonl", "again", scorer="exact", base_url=server.base_url)
        assert (second.id, server.asked()) == (first.id, asked)

    def test_it_prints_as_the_command_shows_it(self, echo: str) -> None:
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo)
        assert "6 of 6 trials" in str(result)
        assert "\x1b" not in str(result)
        assert repr(result) == f"<Evaluation {result.id}: 6 trials>"

    def test_it_prints_in_a_notebook_too(self, echo: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
        assert "6 of 6 trials" in str(evaluate("rows.jsonl", "m", scorer="exact", base_url=echo))

    def test_it_is_among_the_runs_and_can_be_compared(self, echo: str) -> None:
        a = evaluate("rows.jsonl", "one", scorer="exact", base_url=echo)
        b = evaluate("rows.jsonl", "other", scorer="exact", base_url=echo)
        assert [run.manifest.id for run in runs(model="one")] == [a.id]
        (pair,) = compare(a, b.directory).pairs
        assert pair.scores[0].difference == 0.0

    def test_files_that_are_asked_for_are_written(self, echo: str, place: Path) -> None:
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, output="result.json")
        assert Path("result.json") in result.files
        assert (place / "result.json").exists()


class TestSeveralModels:
    def test_they_are_one_run_whose_models_are_compared(self, echo: str) -> None:
        result = evaluate("rows.jsonl", ["a", {"model": "m", "name": "b"}], scorer="exact", base_url=echo)
        assert [target.name for target in result.summary.targets] == ["a", "b"]
        assert compare(result).pairs[0].scores[0].difference == 0.0

    def test_progress_names_them(self, echo: str, capsys: pytest.CaptureFixture[str]) -> None:
        evaluate("rows.jsonl", ["a", "b"], scorer="exact", base_url=echo, progress=True)
        assert "a exact 1.000" in capsys.readouterr().err

    def test_a_task_is_tried_with_all(self, echo: str) -> None:
        assert evaluate(Letters(), ["a", "b"], base_url=echo).summary.done == 6

    def test_what_is_wrong_with_one_is_told(self, echo: str) -> None:
        with pytest.raises(UserError, match="models"):
            evaluate("rows.jsonl", ["a", {"modle": "b"}], scorer="exact", base_url=echo)
        with pytest.raises(UserError, match="a name, a dictionary or a list of them, not int"):
            evaluate("rows.jsonl", 7, scorer="exact", base_url=echo)  # type: ignore[arg-type]


class TestRows:
    ROWS: ClassVar = [{"question": "word1", "answer": "word1"}, {"question": "word2", "answer": "other"}]

    def test_rows_that_are_given_outright_are_a_dataset_and_the_same_ones_the_same_run(
        self, echo: str
    ) -> None:
        first = evaluate(self.ROWS, "m", scorer="exact", base_url=echo)
        assert score_of(first.summary, "exact").mean == 0.5
        assert evaluate([*self.ROWS], "m", scorer="exact", base_url=echo).id == first.id
        assert evaluate(self.ROWS[:1], "m", scorer="exact", base_url=echo).id != first.id

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            (["word1"], "Row 0 is a str: rows are dictionaries"),
            ([{"question": object()}], "Row 0 cannot be written as JSON"),
            ([], "There are no rows"),
        ],
    )
    def test_what_is_no_dataset_is_told(self, echo: str, rows: Any, words: str) -> None:
        with pytest.raises(UserError, match=words):
            evaluate(rows, "m", scorer="exact", base_url=echo)


class TestWhereItIsCalled:
    async def test_the_plain_function_works_where_a_loop_runs(self, echo: str) -> None:
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo)
        assert result.summary.done == ROWS

    async def test_runs_that_are_awaited_go_on_together_and_the_callers_loop_too(self, echo: str) -> None:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        both = await asyncio.gather(
            evaluate_async("rows.jsonl", "a", scorer="exact", base_url=echo),
            evaluate_async("rows.jsonl", "b", scorer="exact", base_url=echo),
        )
        turning.cancel()
        assert [result.summary.done for result in both] == [ROWS, ROWS]
        assert turns > 10

    async def test_cancelling_ends_the_run_and_the_next_call_goes_on(self, server: Server) -> None:
        task: asyncio.Task[Any] | None = None
        loop = asyncio.get_running_loop()

        def cancels_once(row: dict[str, Any]) -> float:
            if row["user_prompt"] == "word3" and task is not None:
                loop.call_soon_threadsafe(task.cancel)
                ended.wait(10)
            return 1.0

        ended = threading.Event()
        call = evaluate_async("rows.jsonl", "c", scorer=cancels_once, base_url=server.base_url)
        task = asyncio.create_task(call)
        with pytest.raises(asyncio.CancelledError):
            await task
        ended.set()
        task = None
        (left,) = runs(model="c")
        assert left.state == "unfinished"
        result = await evaluate_async("rows.jsonl", "c", scorer=cancels_once, base_url=server.base_url)
        assert (result.id, result.summary.done) == (left.manifest.id, ROWS)
        assert result.notes[0].startswith("Going on: ")

    def test_ctrl_c_leaves_a_run_that_the_same_call_goes_on_with(self, server: Server, place: Path) -> None:
        (place / "mine.py").write_text(INTERRUPTED)
        before = server.asked()
        ended = subprocess.run(
            [sys.executable, "mine.py", server.base_url], capture_output=True, text=True, check=False
        )
        assert ended.stdout.split() == ["interrupted", "unfinished", "finished", "6"]
        assert ended.stderr == ""
        assert ROWS <= server.asked() - before <= ROWS + 1


INTERRUPTED = """
import os, signal, sys, time
from benchwright import evaluate, runs

def interrupts(row):
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if row["user_prompt"] == "word3" and not os.path.exists("interrupted"):
        open("interrupted", "w").close()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2)  # so that the main thread hears of it before the last row, however busy the machine is
    return 1.0

def call():
    return evaluate("rows.jsonl", "interrupted", scorer=interrupts, base_url=sys.argv[1])

try:
    call()
except KeyboardInterrupt:
    print("interrupted", runs()[0].state)
result = call()
print(result.summary.state, result.summary.done)
"""


class TestThePersonsProcess:
    def test_nothing_is_printed_and_nothing_of_the_process_changes(
        self, echo: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        before, frozen = (
            (signal.getsignal(signal.SIGINT), gc.get_threshold(), list(sys.path)),
            gc.get_freeze_count(),
        )
        evaluate("rows.jsonl", "m", scorer=["exact", same], base_url=echo)
        assert capfd.readouterr() == ("", "")
        assert (signal.getsignal(signal.SIGINT), gc.get_threshold(), list(sys.path)) == before
        assert gc.get_freeze_count() <= frozen, "what others froze may go"

    def test_progress_is_lines_on_stderr(self, echo: str, capsys: pytest.CaptureFixture[str]) -> None:
        evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, progress=True)
        out, err = capsys.readouterr()
        assert out == ""
        assert err.splitlines()[-1].startswith("[6/6]")

    def test_what_commands_say_is_noted(self, echo: str) -> None:
        result = evaluate("rows.jsonl", "m", scorer="judge", base_url=echo.replace("127.0.0.1", "localhost"))
        assert any("the model judges its own answers" in note for note in result.notes)


class TestKeys:
    KEY = "sk-very-secret-key-1"

    def test_a_key_of_a_variable_is_sent_and_kept_nowhere(
        self, echo: str, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", self.KEY)
        result = evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, api_key_env="MY_KEY")
        assert result.summary.state == "finished"
        assert not [path for path in files_of(place) if self.KEY.encode() in path.read_bytes()]

    def test_a_variable_that_is_not_set_is_told(self, echo: str) -> None:
        with pytest.raises(UserError, match="api_key_env names NO_SUCH_KEY, which is not set"):
            evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, api_key_env="NO_SUCH_KEY")

    def test_two_ways_to_a_key_are_one_too_many(self, echo: str) -> None:
        with pytest.raises(UserError, match="either api_key or api_key_env"):
            evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, api_key="k", api_key_env="K")


def files_of(place: Path) -> Iterator[Path]:
    return (path for path in place.rglob("*") if path.is_file())


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"scorer": "exakt"}, "Unknown scorer 'exakt'. Did you mean 'exact'"),
            ({"scorer": 7}, "is a int: give a function or a Scorer"),
            ({"scorer": "exact", "concurrency": "all"}, "concurrency: "),
            ({"scorer": "exact", "temprature": 1}, "There is no argument 'temprature' here"),
            ({"scorer": same, "workers": 2}, "name agents and scorers as 'module:name'"),
            ({"scorer": [lambda answer: 1, lambda answer: 2]}, "Two things are named"),
        ],
    )
    def test_one_is_told_in_one_line(self, echo: str, arguments: dict[str, Any], words: str) -> None:
        with pytest.raises(UserError, match=words.replace("?", ".")):
            evaluate("rows.jsonl", "m", base_url=echo, **arguments)

    def test_an_endpoint_that_is_not_there_is_told_before_the_first_trial(self) -> None:
        with pytest.raises(UserError, match="Cannot connect to http"):
            evaluate("rows.jsonl", "m", scorer="exact", base_url="http://127.0.0.1:9/v1")

    def test_a_run_that_a_budget_stops_is_no_result(self, echo: str) -> None:
        with pytest.raises(RunUnfinished, match="the same call goes on from there") as stopped:
            evaluate("rows.jsonl", "m", scorer="exact", base_url=echo, budget_tokens=2)
        assert load_run(stopped.value.run).summary().state == "stopped"

    def test_a_figure_that_is_missing_is_a_shortfall(self, echo: str) -> None:
        def fails(answer: str) -> float:
            raise KeyError("no such thing")

        result = evaluate("rows.jsonl", "m", scorer=fails, base_url=echo, max_failures="0")
        assert result.shortfalls[0].startswith("m has no score by fails")
        assert result.shortfalls[1] == "6 of 6 trials failed, more than max_failures 0 allows"


class TestScorers:
    def test_a_function_gets_what_its_parameters_name(self, echo: str) -> None:
        seen: list[tuple[Any, ...]] = []

        def sees(row: dict[str, Any], messages: list[Any], target: str, answer: str) -> Score:
            seen.append((row["user_prompt"], messages[-1]["content"], target, answer))
            return Score(0.5, span=answer[:4])

        result = evaluate("rows.jsonl", "m", scorer=sees, base_url=echo, limit=1)
        assert seen == [("word0", "word0", "word0", "word0")]
        assert [trial.spans for trial in result.load().trials] == [{"sees": "word"}]

    def test_an_async_function_is_awaited_and_none_is_no_answer(self, echo: str) -> None:
        async def thinks(answer: str) -> float | None:
            await asyncio.sleep(0)
            return None if answer == "word0" else 1.0

        result = evaluate("rows.jsonl", "m", scorer=thinks, base_url=echo)
        assert (score_of(result.summary, "thinks").unparsed, score_of(result.summary, "thinks").n) == (
            1,
            ROWS,
        )

    def test_rows_need_a_target_only_where_one_is_compared(self, echo: str, place: Path) -> None:
        (place / "open.jsonl").write_text('{"prompt": "hello"}\n')
        result = evaluate("open.jsonl", "m", scorer=lambda answer: len(answer), base_url=echo)
        assert score_of(result.summary, "lambda").mean == 5.0
        with pytest.raises(UserError, match="No column for the target"):
            evaluate("open.jsonl", "m", scorer=same, base_url=echo)

    def test_an_object_scores_under_its_name(self, echo: str) -> None:
        class Long:
            def __init__(self, least: int) -> None:
                self.name = f"long{least}"
                self.fingerprint = f"long {least}"
                self.least = least

            async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
                return Score(float(len(outcome.answer) >= self.least))

        result = evaluate("rows.jsonl", "m", scorer=[Long(5), Long(6)], base_url=echo)
        assert [score.mean for score in result.summary.targets[0].scores] == [1.0, 0.0]

    @pytest.mark.parametrize(
        ("members", "words"),
        [
            ({"name": "n"}, "has no `fingerprint`"),
            ({"name": "n", "fingerprint": "f", "score": lambda self: 1}, "must be `async def score"),
        ],
    )
    def test_an_object_that_is_no_scorer_yet_is_told_what_it_lacks(
        self, echo: str, members: dict[str, Any], words: str
    ) -> None:
        scorer = type("Mine", (), {"score": None, **members})()
        with pytest.raises(UserError, match=words):
            evaluate("rows.jsonl", "m", scorer=scorer, base_url=echo)

    def test_a_function_that_wants_something_else_is_told_what_there_is(self, echo: str) -> None:
        def wants(reply: str) -> float:
            return 1.0

        with pytest.raises(UserError, match="takes any of answer, target, row, messages"):
            evaluate("rows.jsonl", "m", scorer=wants, base_url=echo)


class TestAgents:
    def test_a_function_answers(self, echo: str) -> None:
        def loud(row: dict[str, Any]) -> str:
            return str(row["user_prompt"]).upper()

        result = evaluate("agent_rows.jsonl", "m", agent=loud, scorer="exact", base_url=echo)
        assert score_of(result.summary, "exact").mean == 1.0

    def test_a_solver_answers(self, echo: str) -> None:
        class Twice:
            async def solve(self, trial: Trial, session: Session) -> Outcome:
                first = await session.chat([{"role": "user", "content": trial.sample.content["user_prompt"]}])
                second = await session.chat([{"role": "user", "content": first.text}])
                return Outcome(answer=second.text)

        result = evaluate("agent_rows.jsonl", "m", agent=Twice(), scorer="exact", base_url=echo)
        assert score_of(result.summary, "exact").mean == 1.0
        assert result.summary.targets[0].requests.total_requests == 2 * ROWS


class Letters:
    """A task of its own: every letter is asked once, and must come back."""

    spec = TaskSpec(name="letters", version="1", fingerprint="letters 1")
    name, fingerprint = "same", "same 1"

    @property
    def scorers(self) -> list[Letters]:
        return [self]

    def samples(self) -> Iterator[Sample]:
        return (Sample(id=letter, content=letter) for letter in "abc")

    def size(self) -> int:
        return 3

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Letters]:
        yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        reply = await session.chat([{"role": "user", "content": trial.sample.content}])
        return Outcome(answer=reply.text)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        return Score(float(outcome.answer == sample.content))


class TestATask:
    def test_it_is_run_and_the_same_call_shows_its_result(self, server: Server) -> None:
        first = evaluate(Letters(), "letters", base_url=server.base_url, n=2)
        asked = server.asked()
        assert (first.summary.done, score_of(first.summary, "same").mean) == (6, 1.0)
        second = evaluate(Letters(), "letters", base_url=server.base_url, n=2)
        assert (second.id, server.asked()) == (first.id, asked)

    def test_it_can_be_compared_with_another_model(self, echo: str) -> None:
        pairs = compare(*(evaluate(Letters(), model, base_url=echo) for model in ("a", "b"))).pairs
        assert [pair.is_refused for pair in pairs] == [False]

    def test_what_belongs_to_datasets_is_refused(self, echo: str) -> None:
        with pytest.raises(UserError, match="leave scorer and agent out"):
            evaluate(Letters(), "m", base_url=echo, scorer="exact")
        with pytest.raises(UserError, match="no argument 'template'"):
            evaluate(Letters(), "m", base_url=echo, template="{prompt}")
        with pytest.raises(UserError, match="path of a file, a list of rows or a Task, not int"):
            evaluate(7, "m", base_url=echo)  # type: ignore[arg-type]

    def test_the_command_line_says_how_it_is_resumed(self, echo: str) -> None:
        with pytest.raises(RunUnfinished) as stopped:
            evaluate(Letters(), "m", base_url=echo, budget_tokens=1)
        resumed = run_benchwright(
            ["resume", str(stopped.value.run)], directory=Path.cwd(), environment=dict(os.environ)
        )
        assert resumed.returncode == 1
        assert "make the same call of `evaluate` again" in resumed.stderr
