"""Several models in one command: each sample is tried with one after another, and the first is compared with each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.app.app_kit import NOWHERE, GrowingJournal, Program, one_line_of, trials
from tests.app.benchmark_kit import knowing, result_files, write_mmlu
from tests.app.eval_kit import Server, logging_server
from tests.app.pack_kit import Packs
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.comparison.records import LoadComparison

ROWS = 6

TWO_TEMPERATURES = """
[[models]]
model = "m"
name = "cold"
temperature = 0.0

[[models]]
model = "m"
name = "hot"
temperature = 1.0
param = { top_p = 0.5 }
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with logging_server(tmp_path / "truth.jsonl") as server:
        yield server


def evaluating(program: Program, *models: str) -> list[str]:
    return ["eval", "-d", program.rows(ROWS), "--scorer", "exact", *models]


class TestEval:
    def test_every_model_is_tried_with_every_row_in_turn(self, program: Program, server: Server) -> None:
        command = evaluating(program, "--model=a", "--model=b", "--model=c", f"--base-url={server.base_url}")
        summary = program.summary(*command)
        assert [(target.name, target.trials) for target in summary.targets] == [("a", 6), ("b", 6), ("c", 6)]
        assert [trial.target for trial in trials(program.only_run)] == [
            "primary",
            "model-2",
            "model-3",
        ] * ROWS

    def test_the_first_is_compared_with_each_other(self, program: Program, echo: str) -> None:
        with simulated_endpoint("--policy=refusal") as refusing:
            file = program.write(
                "models.toml",
                f'[[models]]\nmodel = "a"\n[[models]]\nmodel = "b"\nbase_url = "{refusing}"\n',
            )
            summary = program.summary(*evaluating(program, f"--models={file}", f"--base-url={echo}"))
        (difference,) = summary.differences
        assert (difference.slot, difference.than, difference.wins) == ("primary", "model-2", ROWS)

    def test_lines_name_the_model(self, program: Program, echo: str) -> None:
        ended = program.run(*evaluating(program, "--model=a", "--model=b", f"--base-url={echo}"))
        assert "Models: a, b" in ended.stdout
        assert "[1/12] [a] OK" in ended.stdout
        assert "[2/12] [b] OK" in ended.stdout
        assert "a - b" in ended.stdout

    def test_one_model_given_twice_is_one(self, program: Program, echo: str) -> None:
        summary = program.summary(*evaluating(program, "--model=a", "--model=a", f"--base-url={echo}"))
        assert [target.name for target in summary.targets] == ["primary"]

    def test_killed_it_goes_on_with_all_of_them(self, program: Program, server: Server) -> None:
        command = evaluating(program, "--model=a", "--model=b", f"--base-url={server.base_url}")
        process = program.start(*command)
        GrowingJournal(program).wait_for(4, process)
        process.kill()
        process.wait()
        asked, done = server.asked(), len(trials(program.only_run))
        summary = program.summary(*command)
        assert summary.done == 2 * ROWS
        assert server.asked() - asked == 2 * ROWS - done

    def test_another_model_more_reuses_the_conversations_of_the_others(
        self, program: Program, server: Server
    ) -> None:
        endpoint = f"--base-url={server.base_url}"
        program.summary(*evaluating(program, "--model=a", "--model=b", endpoint))
        before = server.asked()
        program.summary(*evaluating(program, "--model=a", "--model=b", "--model=c", endpoint, "--reuse"))
        assert server.asked() - before == ROWS

    def test_a_baseline_goes_with_one_model(self, program: Program) -> None:
        ended = program.run(
            *evaluating(program, "--model=a", "--model=b", "--baseline-model=c", f"--base-url={NOWHERE}")
        )
        assert ended.returncode == 1
        assert "--baseline-model goes with one --model" in one_line_of(ended.stderr)


class TestAFileOfModels:
    def test_each_has_settings_of_its_own(self, program: Program, server: Server) -> None:
        file = program.write("models.toml", TWO_TEMPERATURES)
        command = evaluating(program, f"--models={file}", f"--base-url={server.base_url}", "--max-tokens=9")
        summary = program.summary(*command)
        assert [target.name for target in summary.targets] == ["cold", "hot"]
        manifest = json.loads((program.only_run / "run.json").read_text())
        assert [target["settings"] for target in manifest["targets"]] == [
            {"temperature": 0.0, "max_tokens": 9},
            {"temperature": 1.0, "max_tokens": 9, "top_p": 0.5},
        ]

    def test_a_key_goes_to_its_own_address_only(self, program: Program) -> None:
        with simulated_endpoint("--api-key=first") as first, simulated_endpoint("--api-key=second") as second:
            file = program.write(
                "models.toml",
                '[[models]]\nmodel = "a"\n'
                f'[[models]]\nmodel = "b"\nbase_url = "{second}"\napi_key_env = "SECOND_KEY"\n',
            )
            command = evaluating(program, f"--models={file}", f"--base-url={first}", "--api-key=first")
            summary = program.summary(*command, SECOND_KEY="second")
        assert [target.statuses for target in summary.targets] == [{"scored": ROWS}] * 2
        assert b"second" not in (program.only_run / "run.json").read_bytes().replace(b"SECOND_KEY", b"")

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[[models]", "is not a TOML file"),
            ("model = 'm'", "names no models: write a table [[models]]"),
            ("[[models]]\nname = 'x'", "model 1: model: Field required"),
            (
                "[[models]]\nmodel = 'm'\ntemprature = 1",
                "model 1: unknown key 'temprature'. Did you mean 'temperature'?",
            ),
            ("[[models]]\nmodel = 'm'\n[[models]]\nmodel = 'm'\nseed = 2", "Two models are called 'm'"),
            (
                "[[models]]\nmodel = 'm'\n[[models]]\nmodel = 'm'\nname = 'x'",
                "'m' and 'x' are the same model",
            ),
            (
                "[[models]]\nmodel = 'm'\napi_key_env = 'NO_SUCH'",
                "api_key_env names NO_SUCH, which is not set",
            ),
        ],
    )
    def test_what_is_wrong_is_one_line(self, program: Program, text: str, told: str) -> None:
        file = program.write("models.toml", text)
        ended = program.run(*evaluating(program, f"--models={file}", f"--base-url={NOWHERE}"))
        assert ended.returncode == 1
        assert told in one_line_of(ended.stderr)


class TestWhereModelsAreNamed:
    def test_before_the_command_and_after_it(self, program: Program, echo: str) -> None:
        command = evaluating(program, "--model=b", f"--base-url={echo}", "--json", "-q")
        ended = program.run("--model", "a", *command)
        assert ended.returncode == 0, ended.stderr
        (target,) = json.loads(ended.stdout)["targets"]
        assert target["model"] == "b"

    def test_in_the_environment_blanks_and_all(self, program: Program, echo: str) -> None:
        summary = program.summary(*evaluating(program, f"--base-url={echo}"), BENCHWRIGHT_MODEL="my model")
        assert [target.model for target in summary.targets] == ["my model"]

    @pytest.mark.parametrize(("value", "count"), [('"a"', 1), ('["a", "b"]', 2)])
    def test_in_a_configuration_file(self, program: Program, echo: str, value: str, count: int) -> None:
        program.write("eval.toml", f'model = {value}\nbase-url = "{echo}"\n')
        summary = program.summary(*evaluating(program, "--config=eval.toml"))
        assert len(summary.targets) == count


def test_a_benchmark_has_a_result_file_for_each_model(program: Program) -> None:
    rows = write_mmlu(program, 8)
    with knowing("mmlu", rows) as right, knowing("mmlu", rows, 0.5) as half:
        file = program.write(
            "models.toml",
            f'[[models]]\nmodel = "right"\n[[models]]\nmodel = "half"\nbase_url = "{half}"\n',
        )
        ended = program.run("run", "mmlu", f"--models={file}", f"--base-url={right}", "--json")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)["benchmarks"]
    assert [(one["model"], one["accuracy"]) for one in told] == [("right", 1.0), ("half", 0.5)]
    written = {result["model"]: result for result in result_files(program)}
    assert {model: result["accuracy"] for model, result in written.items()} == {"right": 1.0, "half": 0.5}
    assert [result["num_samples"] for result in written.values()] == [8, 8]
    assert written["half"]["config"]["base_url"] == half


def test_a_simulated_user_needs_a_model_of_its_own(program: Program) -> None:
    ended = program.run("run", "tau_bench", "--model=a", "--model=b", f"--base-url={NOWHERE}")
    assert "--option user_model=MODEL" in ended.stderr


def test_packs_take_a_file_of_models(program: Program, echo: str) -> None:
    packs, entry = Packs(program), f'[[models]]\nmodel = "m"\nbase_url = "{echo}"\n'
    file = program.write("models.toml", f'{entry}name = "One"\n{entry}name = "Two"\nseed = 1\n')
    ended = program.run("pack", "run", packs.pack("mixed"), f"--models={file}", "--json")
    assert ended.returncode == 0, ended.stderr
    (told,) = json.loads(ended.stdout)["packs"]
    assert set(told["resultsByModel"]) == {"One", "Two"}


class TestLoad:
    def test_models_are_measured_one_after_the_other_with_the_same_prompts(
        self, program: Program, server: Server
    ) -> None:
        models = ["--model=a", "--model=b", f"--base-url={server.base_url}"]
        levels = ["--concurrency=1,2", "--requests=4", "--synthetic-input=20"]
        ended = program.run("load", *models, *levels, "--json")
        assert ended.returncode == 0, ended.stderr
        found = msgspec.json.decode(ended.stdout, type=LoadComparison)
        assert [report.model for report in found.reports] == ["a", "b"]
        assert {report.id for report in found.reports} == {found.id}
        assert len({report.prompt_seed for report in found.reports}) == 1
        assert [[level.requests for level in report.levels] for report in found.reports] == [[4, 4], [4, 4]]
        listed = json.loads(program.run("runs", "--tag", found.id, "--sort=oldest", "--json").stdout)["runs"]
        assert [run["models"] for run in listed] == [["a"], ["a"], ["b"], ["b"]]

    def test_they_stand_beside_each_other_level_by_level(self, program: Program, echo: str) -> None:
        models = ["--model=a", "--model=b", f"--base-url={echo}"]
        ended = program.run(
            "load",
            *models,
            "--dataset",
            program.rows(3),
            "--scorer=exact",
            "--concurrency=1,2",
            "--requests=3",
            "-q",
        )
        assert ended.returncode == 0, ended.stderr
        table = ended.stdout.partition("2 models")[2].strip().splitlines()
        assert table[0].split()[:3] == ["in", "flight", "model"]
        rows = [" ".join(line.replace("!", " ").split()[:2]) for line in table[1:5]]
        assert rows == ["1 a", "1 b", "2 a", "2 b"]
        assert all(len(line) <= 80 for line in table[:6])

    def test_every_endpoint_is_probed_before_the_first_is_measured(
        self, program: Program, server: Server
    ) -> None:
        entries = f'[[models]]\nmodel = "a"\nbase_url = "{server.base_url}"\n'
        entries += f'[[models]]\nmodel = "b"\nbase_url = "{NOWHERE}"\n'
        file = program.write("models.toml", entries)
        ended = program.run("load", f"--models={file}", "--synthetic-input=9", "--requests=2")
        assert ended.returncode == 1
        assert NOWHERE in one_line_of(ended.stderr)
        assert server.asked() == 0

    def test_two_that_cannot_be_told_apart_are_refused(self, program: Program) -> None:
        entry = f'[[models]]\nmodel = "a"\nbase_url = "{NOWHERE}"\n'
        file = program.write("models.toml", entry * 2)
        ended = program.run("load", f"--models={file}", "--synthetic-input=9")
        assert "Two models are called 'a'" in one_line_of(ended.stderr)
