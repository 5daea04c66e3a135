"""Without `--base-url` a command says in its first line which server it uses, and why.

`run`, `load`, `check` and `pack run` go to the same server. `eval` goes where Osmosis' documents say, and `llm-bench`
where its document says.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import write_mmlu
from tests.app.pack_kit import Packs

from benchwright.app.models import default_line
from benchwright.endpoint.providers import find_target

LOCAL_LINE = "No --base-url: asking http://localhost:8000/v1 (the default, as OPENAI_BASE_URL is not set)."
VARIABLE_LINE = f"No --base-url: asking {NOWHERE} (from OPENAI_BASE_URL)."
OPENAI_LINE = "No --base-url: asking https://api.openai.com/v1 (the default, as OPENAI_BASE_URL is not set)."

RUN = ("run", "mmlu", "--data-dir", "data", "--model", "m", "--dry-run")
SYNTHETIC_LOAD = ("load", "--synthetic-input", "5", "--synthetic-output", "3", "--model", "m", "--dry-run")
SCORED_LOAD = ("load", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m", "--dry-run")
CHECK = ("check", "--model", "m")
PACK_RUN = ("pack", "run", "./pack", "--model", "m", "--dry-run")
EVAL = ("eval", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m", "--api-key", "k", "--dry-run")
COMMANDS = {
    "run": RUN,
    "load of synthetic prompts": SYNTHETIC_LOAD,
    "load of scored rows": SCORED_LOAD,
    "check": CHECK,
    "pack run": PACK_RUN,
}
EVERY_COMMAND = {**COMMANDS, "eval": EVAL}


@pytest.fixture
def prepared(program: Program) -> Program:
    """A program with rows, a benchmark's questions and a pack in its working directory."""
    program.rows(2)
    write_mmlu(program, 2)
    Packs(program).pack("pack")
    return program


def told(program: Program, *command: str, **environment: str) -> list[str]:
    """The lines on stderr that name the server of a command."""
    lines = program.run(*command, **environment).stderr.splitlines()
    found = [line for line in lines if line.startswith("No --base-url")]
    assert lines[: len(found)] == found, "they come first"
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_run_load_check_and_pack_run_use_the_same_local_server(
    prepared: Program, command: tuple[str, ...]
) -> None:
    assert told(prepared, *command) == [LOCAL_LINE]


@pytest.mark.parametrize("command", EVERY_COMMAND.values(), ids=EVERY_COMMAND)
def test_every_command_uses_the_server_of_the_variable(prepared: Program, command: tuple[str, ...]) -> None:
    assert told(prepared, *command, OPENAI_BASE_URL=NOWHERE) == [VARIABLE_LINE]


@pytest.mark.parametrize("command", EVERY_COMMAND.values(), ids=EVERY_COMMAND)
def test_nothing_is_said_about_an_address_that_was_given(prepared: Program, command: tuple[str, ...]) -> None:
    assert told(prepared, *command, "--base-url", NOWHERE) == []


def test_an_address_of_benchwright_s_variable_is_given_like_an_option(prepared: Program) -> None:
    assert told(prepared, *EVAL, BENCHWRIGHT_BASE_URL=NOWHERE) == []


def test_eval_goes_to_openai_as_documented(prepared: Program) -> None:
    assert told(prepared, *EVAL) == [OPENAI_LINE]


def test_eval_asks_models_of_other_providers_through_litellm() -> None:
    line = "No --base-url: anthropic, the provider in the model's name, is asked through LiteLLM."
    assert default_line("anthropic/m", find_target("anthropic/m", None), None) == line


def test_a_missing_key_is_told_after_the_server_that_needs_it(prepared: Program) -> None:
    ended = prepared.run("eval", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m")
    first, error = ended.stderr.splitlines()
    assert first == OPENAI_LINE
    assert error.startswith("Error: Missing API key for provider 'openai'.")


def test_a_baseline_without_an_address_is_told_like_the_model(prepared: Program) -> None:
    command = (*EVAL, "--base-url", NOWHERE, "--baseline-model", "b", "--baseline-api-key", "k")
    lines = prepared.run(*command).stderr.splitlines()
    assert f"Baseline b: {OPENAI_LINE.replace('--base-url', '--baseline-base-url')}" in lines


def test_several_models_and_benchmarks_at_one_server_need_one_line(prepared: Program) -> None:
    assert told(prepared, *RUN, "mmlu:documented", "--model", "n") == [LOCAL_LINE]
    assert told(prepared, *SYNTHETIC_LOAD, "--model", "n") == [LOCAL_LINE]
    assert told(prepared, *EVAL, "--model", "n") == [OPENAI_LINE]


def test_a_model_with_an_address_of_its_own_needs_no_line(prepared: Program) -> None:
    models = prepared.directory / "models.toml"
    models.write_text(f'[[models]]\nmodel = "m"\nbase_url = "{NOWHERE}"\n')
    for command in (RUN, SCORED_LOAD, EVAL):
        without_model = [*command[: command.index("--model")], *command[command.index("--model") + 2 :]]
        assert told(prepared, *without_model, "--models", str(models)) == []


def test_a_pack_s_model_is_asked_where_packs_toml_says(prepared: Program) -> None:
    prepared.home.mkdir(exist_ok=True)
    (prepared.home / "packs.toml").write_text(
        f'[providers.mine]\nbase_url = "{NOWHERE}"\n[[models]]\nid = "mine:m"\nprovider = "mine"\nmodel = "m"\n'
    )
    assert told(prepared, *PACK_RUN, OPENAI_BASE_URL="http://127.0.0.1:10/v1") == [
        f"No --base-url: asking {NOWHERE} (configured for mine)."
    ]


@pytest.mark.parametrize("command", [RUN, CHECK], ids=["run", "check"])
def test_llm_bench_uses_the_address_of_its_document_whatever_the_variable_says(
    prepared: Program, command: tuple[str, ...]
) -> None:
    code = "import sys; sys.argv[0] = 'llm-bench'; from benchwright.cli.start import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=prepared.directory,
        env={**prepared.environment, "OPENAI_BASE_URL": NOWHERE},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    first = ended.stderr.splitlines()[0]
    assert first == "No --base-url: asking http://localhost:8000/v1 (the default of llm-bench)."
