"""Recommended settings of model families: applied when asked for, shown, recorded, and a departure."""

from __future__ import annotations

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import write_mmlu
from tests.app.thinking_kit import thinking_server

from benchwright.app.recommended_settings import (
    SHIPPED_FILE,
    ModelFamily,
    find_recommended_settings,
    read_families,
)
from benchwright.errors import UserError
from benchwright.runs.manifest import read_manifest

OWN = """
[[families]]
name = "ours"
models = ["m"]
source = "our notes"
temperature = 0.3
top_k = 7
"""


def command(program: Program, base_url: str, *more: str) -> list[str]:
    write_mmlu(program, 1)
    return ["run", "mmlu", "--model", "m", "--base-url", base_url, *more]


@pytest.mark.parametrize(
    ("model", "thinks", "family"),
    [
        ("Qwen/Qwen3-8B", True, "Qwen3, thinking"),
        ("qwen3-8b", False, "Qwen3, not thinking"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", True, "Qwen3 Thinking 2507"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", True, "Qwen3 Instruct 2507"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", True, "DeepSeek-R1"),
        ("openai/gpt-oss-20b", True, "gpt-oss"),
        ("zai-org/GLM-4.6", True, "GLM-4.6"),
        ("moonshotai/Kimi-K2-Thinking", True, "Kimi K2 Thinking"),
        ("mistralai/Magistral-Small-2506", True, "Magistral Small"),
    ],
)
def test_a_model_is_of_the_family_that_its_name_says(model: str, thinks: bool, family: str) -> None:
    assert find_recommended_settings(model, thinks=thinks).family == family


def test_nothing_is_made_up_for_a_model_that_no_family_has() -> None:
    with pytest.raises(UserError, match="Nothing is recommended for 'my-model'"):
        find_recommended_settings("my-model", thinks=True)


@pytest.mark.parametrize("family", read_families(SHIPPED_FILE), ids=lambda family: family.name)
def test_every_shipped_family_names_its_source(family: ModelFamily) -> None:
    assert family.source.startswith("https://")


class TestARun:
    def test_sends_them_only_when_asked_to(self, program: Program) -> None:
        program.write("own.toml", OWN)
        with thinking_server() as server:
            program.run(*command(program, server.base_url))
            program.run(*command(program, server.base_url, "--recommended-file", "own.toml"))
        plain, recommended = server.bodies
        assert "top_k" not in plain
        assert (recommended["temperature"], recommended["top_k"]) == (0.3, 7)

    def test_shows_and_records_them_with_their_source(self, program: Program) -> None:
        program.write("own.toml", OWN)
        with thinking_server() as server:
            ended = program.run(*command(program, server.base_url, "--recommended-file", "own.toml"))
        assert "as recommended for ours (our notes): temperature 0.3, top_k 7" in ended.stderr
        about = read_manifest(program.runs[0]).about
        assert about["recommended"]["primary"]["settings"] == {"temperature": 0.3, "top_k": 7}
        assert any("recommended for ours" in departure for departure in about["departures"])

    def test_what_the_user_gives_goes_over_them(self, program: Program) -> None:
        program.write("own.toml", OWN)
        with thinking_server() as server:
            program.run(
                *command(program, server.base_url, "--recommended-file", "own.toml", "--temperature", "0.9")
            )
        assert (server.bodies[0]["temperature"], server.bodies[0]["top_k"]) == (0.9, 7)
        about = read_manifest(program.runs[0]).about
        assert about["recommended"]["primary"]["settings"] == {"top_k": 7}

    def test_the_users_own_table_lies_in_the_home(self, program: Program) -> None:
        program.home.mkdir()
        (program.home / "recommended.toml").write_text(OWN)
        with thinking_server() as server:
            program.run(*command(program, server.base_url, "--recommended"))
        assert server.bodies[0]["top_k"] == 7

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[[families]]\nname = 'x'\nmodels = ['m']\ntop_k = 1\n", "family 1: source"),
            ("[[families]]\nname = 'x'\nmodels = ['m']\nsource = 's'\n", "recommends no settings"),
            ("top_k = 1\n", "has no families"),
        ],
    )
    def test_a_table_with_a_fault_is_refused_with_its_place(
        self, program: Program, text: str, words: str
    ) -> None:
        program.write("own.toml", text)
        ended = program.run(*command(program, "http://127.0.0.1:9/v1", "--recommended-file", "own.toml"))
        assert (ended.returncode, words in ended.stderr) == (1, True), ended.stderr
