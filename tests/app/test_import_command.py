"""`benchwright import`, and results of other programs in place of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import made, write_run
from tests.app.decide_kit import answers, deciding
from tests.interop.foreign_kit import WRITERS, inspect, score_lines
from tests.interop.inspect_kit import sample, write_log

SAMPLES = 120
RIGHT = answers(0.2, samples=SAMPLES)
FIGURES = ("n", "difference", "p_value", "low", "high", "wins", "losses", "verdict")


def printed(program: Program, *command: str, code: int = 0) -> Any:
    ended = program.run(*command, "--json")
    assert ended.returncode == code, ended.stderr
    return json.loads(ended.stdout)


def figures(comparison: dict[str, Any]) -> dict[str, Any]:
    """What there is of a comparison by its first score."""
    (pair,) = comparison["pairs"]
    return {name: pair["scores"][0].get(name) for name in FIGURES}


@pytest.fixture(scope="module")
def our_own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What we find of two models whose answers are RIGHT."""
    program = Program(tmp_path_factory.mktemp("own"))
    try:
        with deciding(program, RIGHT) as decider:
            run = decider.run()["run"]
        return figures(printed(program, "compare", run))
    finally:
        program.end()


@pytest.mark.parametrize("format", WRITERS)
def test_two_results_have_the_difference_of_our_own_run_of_the_same_answers(
    format: str, program: Program, our_own: dict[str, Any]
) -> None:
    old, new = (str(WRITERS[format](program.directory, model, RIGHT[model])) for model in ("old", "new"))
    found = figures(printed(program, "compare", old, new))
    assert found == pytest.approx(our_own)
    assert our_own["n"] == SAMPLES


def test_results_of_two_programs_are_paired_by_their_questions(
    program: Program, our_own: dict[str, Any]
) -> None:
    """Inspect has the question's number as its id, the other file `q` and the number."""
    old = inspect(program.directory, "old", RIGHT["old"])
    new = score_lines(program.directory, "new", RIGHT["new"])
    comparison = printed(program, "compare", str(old), str(new))
    (pair,) = comparison["pairs"]
    assert figures(comparison) == pytest.approx(our_own)
    assert pair["alignment"].startswith("by the question")
    assert any(note.endswith("are the same task") for note in pair["notes"])


def test_a_log_and_a_run_of_ours_are_compared(program: Program, our_own: dict[str, Any]) -> None:
    with deciding(program, RIGHT) as decider:
        run = decider.run(models=("old",))["run"]
    new = inspect(program.directory, "new", RIGHT["new"])
    assert figures(printed(program, "compare", run, str(new))) == pytest.approx(our_own)


def test_what_is_imported_twice_is_there_once(program: Program) -> None:
    log = str(inspect(program.directory, "old", RIGHT["old"]))
    (first,) = printed(program, "import", log)["imported"]
    (again,) = printed(program, "import", log)["imported"]
    assert (first["new"], again["new"]) == (True, False)
    assert first["id"] == again["id"]
    assert len(program.runs) == 1


def test_a_folder_of_logs_is_imported_whole(program: Program) -> None:
    logs = program.directory / "logs"
    logs.mkdir()
    for model in RIGHT:
        inspect(logs, model, RIGHT[model])
    found = printed(program, "import", str(logs))["imported"]
    assert {one["models"][0] for one in found} == {"openai/old", "openai/new"}


def test_a_damaged_log_does_not_keep_those_beside_it_from_being_imported(program: Program) -> None:
    logs = program.directory / "logs"
    logs.mkdir()
    inspect(logs, "old", RIGHT["old"])
    broken = inspect(logs, "new", RIGHT["new"])
    broken.write_bytes(broken.read_bytes()[:-30])
    found = printed(program, "import", str(logs), code=4)
    assert [one["models"] for one in found["imported"]] == [["openai/old"]]
    assert [str(broken) in error for error in found["unread"]] == [True]
    ended = program.run("import", str(logs))
    assert ended.returncode == 4
    assert "Not imported: " in ended.stdout
    assert "new.eval" in ended.stdout


def test_the_table_says_what_is_not_known(program: Program) -> None:
    ended = program.run("import", str(inspect(program.directory, "old", RIGHT["old"])))
    assert ended.returncode == 0, ended.stderr
    assert "Inspect 0.3.285" in ended.stdout
    assert "time to first token" in ended.stdout


@pytest.mark.parametrize("command", ["show", "report", "table", "export"])
def test_commands_take_a_log_in_place_of_a_run(command: str, program: Program) -> None:
    log = str(inspect(program.directory, "old", RIGHT["old"]))
    more = {"report": ("-o", "report.html"), "export": ("-o", "rows.csv")}.get(command, ())
    ended = program.run(command, log, *more)
    assert ended.returncode == 0, ended.stderr


def test_the_summary_says_where_it_is_from_and_has_no_times(program: Program) -> None:
    log = str(inspect(program.directory, "old", RIGHT["old"]))
    shown = printed(program, "show", log)
    assert shown["origin"]["program"] == "Inspect 0.3.285"
    assert shown["targets"][0]["requests"].get("latency_p50") is None
    assert program.run("show", log).stdout.count("Imported from Inspect 0.3.285, old.eval.") == 1


def test_a_sample_is_shown_with_its_question_and_its_answer(program: Program) -> None:
    log = str(write_log(program.directory / "a.eval", [sample("first/one", "I")]))
    (attempt,) = printed(program, "show", log, "--sample", "first/one")["attempts"]
    gist = attempt["gist"]
    assert gist["input"] == "What is first/one + first/one?"
    assert (gist["target"], gist["answer"]) == ("right", "an answer")


def test_an_imported_run_cannot_go_on(program: Program) -> None:
    (run,) = printed(program, "import", str(inspect(program.directory, "old", RIGHT["old"])))["imported"]
    for command in ("resume", "retry"):
        ended = program.run(command, run["id"])
        assert ended.returncode == 1
        assert "only the program that made it can go on with it" in ended.stderr


def test_less_is_better_where_the_program_says_so(program: Program) -> None:
    lower = [number / 200 for number in range(100)]
    folders = []
    for name, scores in (("a", lower), ("b", [score + 0.2 for score in lower])):
        folder = WRITERS["lm-eval"](program.directory, name, scores)
        results = next(folder.glob("results_*"))
        results.write_text(results.read_text().replace('"exact_match": true', '"exact_match": false'))
        folders.append(str(folder))
    comparison = printed(program, "compare", *folders)
    assert comparison["pairs"][0]["scores"][0]["verdict"] == "worse"
    ended = program.run("compare", *folders, "--max-regression", "0.05")
    assert ended.returncode == 3


@pytest.mark.parametrize("content", [b"PK\x03\x04 no archive", b"", b"\x00" * 100])
def test_a_damaged_log_is_one_line(program: Program, content: bytes) -> None:
    path = program.directory / "broken.eval"
    path.write_bytes(content)
    ended = program.run("import", str(path))
    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: ")
    assert "broken.eval" in ended.stderr
    assert program.runs == []


def test_what_is_of_no_known_format_is_told_with_those_that_are(program: Program) -> None:
    Path(program.directory, "notes").mkdir()
    ended = program.run("import", "notes")
    assert ended.returncode == 1
    assert "Inspect logs" in ended.stderr


def test_commands_say_it_of_a_path_too(program: Program) -> None:
    Path(program.directory, "stats.json").write_text('{"score": 0.5}')
    ended = program.run("show", "stats.json")
    assert ended.returncode == 1
    assert "stats.json holds no results that can be read. What can be read: Inspect logs" in ended.stderr


def test_a_scorer_that_gave_only_parts_did_not_fail(program: Program) -> None:
    """A log without results, as an interrupted one, names the scorer alone."""
    log = write_log(program.directory / "a.eval", [sample(1, {"a": 1.0, "b": None}), sample(2, {"a": 0.0})])
    shown = printed(program, "show", str(log))
    assert [score["scorer"] for score in shown["targets"][0]["scores"]] == ["match.a"]
    assert shown.get("shortfalls", []) == []


def test_a_metric_of_a_whole_dataset_is_told_as_one_without_numbers(program: Program) -> None:
    """Perplexities of lm-evaluation-harness have a pair for each sample, no number."""
    folder = WRITERS["lm-eval"](program.directory, "a", [1.0, 0.0])
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("exact_match", "word_perplexity"))
    samples = next(folder.glob("samples_*"))
    samples.write_text(samples.read_text().replace('"word_perplexity": 1.0', '"word_perplexity": [-3.5, 7]'))
    samples.write_text(samples.read_text().replace('"word_perplexity": 0.0', '"word_perplexity": [-4.5, 8]'))
    said = program.run("show", str(folder)).stdout
    assert "a has no score by word_perplexity,none: its files have no number for any trial" in said
    assert "the scorer failed" not in said


def test_the_number_of_trials_is_not_told_where_no_file_tells_it(program: Program) -> None:
    path = WRITERS["scores"](program.directory, "a", [1.0, 0.0])
    assert "finished, 2 trials" in program.run("show", str(path)).stdout


def test_an_import_that_fails_leaves_nothing(program: Program) -> None:
    lines = '{"id": 1, "repeat": 0, "score": 1}\n{"id": 1, "repeat": 0, "score": 0}\n'
    ended = program.run("import", program.write("twice.jsonl", lines))
    assert ended.returncode == 1
    assert list((program.directory / "home" / "runs").iterdir()) == []


def test_the_viewer_opens_results_of_another_program(program: Program) -> None:
    (program.directory / "scores.jsonl").write_text('{"id": "a", "score": 1, "model": "m"}\n')
    process = program.start("view", "scores.jsonl", "--port", "0", "--no-open")
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    process.terminate()
    process.communicate(timeout=30)
    (run,) = (program.home / "runs").glob("2*")
    assert address.endswith(f"&run={run.name}")


def test_it_opens_no_run_of_another_home(program: Program) -> None:
    run = write_run(program.directory / "elsewhere" / "run-1", made([1.0]))
    ended = program.run("view", str(run), "--no-open")
    assert ended.returncode == 1
    assert "BENCHWRIGHT_HOME" in ended.stderr
