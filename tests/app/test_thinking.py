"""Models that think: what is sent for it, answers that the thinking left no room for, and tokens counted apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import only_result, write_mmlu
from tests.app.thinking_kit import thinking_server

from benchwright.runs.manifest import read_manifest


def asked(program: Program, base_url: str, *more: str) -> list[str]:
    return program.evaluating(program.rows(2), base_url, *more)


class TestAnswersCutOffInThinking:
    def test_are_told_apart_with_their_share_and_the_option_to_raise(self, program: Program) -> None:
        with thinking_server(finish_reason="length") as server:
            ended = program.run(*asked(program, server.base_url, "--max-tokens", "40"))
        told = " ".join(ended.stdout.split())
        assert "2 cut off in thinking" in told
        assert "2 of 2 trials (100.0%)" in told
        assert "Raise --max-tokens (40 was reached)" in told

    def test_have_a_status_and_a_reason_of_their_own_in_json(self, program: Program) -> None:
        with thinking_server(finish_reason="length") as server:
            summary = program.summary(*asked(program, server.base_url, "--max-tokens", "40"))
        (target,) = summary.targets
        assert target.statuses == {"cut_off_in_thinking": 2}
        assert target.thinking_cut_off is not None
        assert (target.thinking_cut_off.share, target.thinking_cut_off.max_tokens) == (1.0, 40)

    def test_are_counted_in_a_benchmarks_result_file(self, program: Program) -> None:
        write_mmlu(program, 3)
        with thinking_server(finish_reason="length") as server:
            program.run("run", "mmlu", "--model", "m", "--base-url", server.base_url)
        result = only_result(program)
        assert (result["cut_off_in_thinking"], result["truncated"]) == (3, 0)

    def test_are_named_beside_the_table_and_in_the_report(self, program: Program) -> None:
        with thinking_server(finish_reason="length") as server:
            program.run(*asked(program, server.base_url))
        table = " ".join(program.run("table").stdout.split())
        assert "cut off while the model was still thinking" in table
        program.run("report", program.runs[0].name, "-o", "report.html")
        assert "cut off while the model was still thinking" in (program.directory / "report.html").read_text()

    def test_an_answer_that_was_begun_is_truncated(self, program: Program) -> None:
        begun = {"role": "assistant", "content": "The ans", "reasoning_content": "hm"}
        with thinking_server(begun, finish_reason="length") as server:
            summary = program.summary(*asked(program, server.base_url))
        assert summary.targets[0].statuses == {"truncated": 2}


class TestTokens:
    @pytest.mark.parametrize(
        ("details", "thinking", "estimated"),
        [({"completion_tokens_details": {"reasoning_tokens": 30}}, 60, 0), ({}, 64, 2)],
    )
    def test_of_thinking_are_those_counted_else_estimated_from_the_text(
        self, program: Program, details: dict[str, Any], thinking: int, estimated: int
    ) -> None:
        answer = {"role": "assistant", "content": "1234", "reasoning_content": "0123456789abcdef"}
        usage = {"prompt_tokens": 5, "completion_tokens": 40, **details}
        with thinking_server(answer, usage=usage) as server:
            summary = program.summary(*asked(program, server.base_url))
        requests = summary.targets[0].requests
        assert (requests.total_reasoning_tokens, requests.estimated_reasoning_requests) == (
            thinking,
            estimated,
        )

    def test_are_unknown_where_nothing_says_them(self, program: Program) -> None:
        with thinking_server({"role": "assistant", "content": "word0"}) as server:
            summary = program.summary(*asked(program, server.base_url))
        assert summary.targets[0].requests.total_reasoning_tokens is None

    def test_are_shown_apart_and_estimates_are_marked(self, program: Program) -> None:
        answer = {"role": "assistant", "content": "1234", "reasoning_content": "0123456789abcdef"}
        with thinking_server(answer) as server:
            ended = program.run(*asked(program, server.base_url))
        assert (
            "80 completion tokens (about 64 thinking, 16 answering; estimated from the text)" in ended.stdout
        )
        assert "~64" in program.run("table").stdout


class TestWhatIsSent:
    def test_the_server_is_known_by_its_list_of_models(self, program: Program) -> None:
        with thinking_server(owner="vllm") as server:
            ended = program.run(*asked(program, server.base_url, "--thinking-budget", "500"))
        assert {body["thinking_token_budget"] for body in server.bodies} == {500}
        assert "(style vllm, by its list of models)" in ended.stderr

    def test_a_style_that_is_given_is_taken(self, program: Program) -> None:
        with thinking_server(owner="vllm") as server:
            program.run(
                *asked(program, server.base_url, "--thinking-budget", "500", "--thinking-style", "dashscope")
            )
        assert {(body["enable_thinking"], body["thinking_budget"]) for body in server.bodies} == {(True, 500)}

    def test_a_server_that_does_not_say_what_it_is_gets_nothing(self, program: Program) -> None:
        with thinking_server(owner="me") as server:
            ended = program.run(*asked(program, server.base_url, "--reasoning-effort", "low"))
        assert (ended.returncode, server.bodies) == (1, [])
        assert "give --thinking-style" in ended.stderr

    def test_a_dry_run_shows_the_fields_and_asks_for_no_answer(self, program: Program) -> None:
        with thinking_server() as server:
            command = asked(program, server.base_url, "--reasoning-effort", "high", "--dry-run", "--json")
            described = json.loads(program.run(*command).stdout)
        assert described["thinking"]["primary"] == {
            "fields": {"reasoning_effort": "high"},
            "style": "vllm",
            "by": "its list of models",
        }
        assert server.bodies == []

    def test_the_manifest_keeps_them(self, program: Program) -> None:
        with thinking_server() as server:
            program.run(*asked(program, server.base_url, "--reasoning-effort", "high"))
        manifest = read_manifest(program.runs[0])
        assert manifest.about["thinking"]["primary"]["fields"] == {"reasoning_effort": "high"}
        assert manifest.targets[0].settings["reasoning_effort"] == "high"

    def test_each_of_several_models_may_have_its_own(self, program: Program) -> None:
        models = """
        [[models]]
        model = "m"
        name = "low"
        reasoning_effort = "low"
        [[models]]
        model = "m"
        name = "high"
        reasoning_effort = "high"
        """
        program.write("models.toml", models)
        with thinking_server() as server:
            program.run(
                *("eval", "-d", program.rows(1), "--scorer", "exact", "--models", "models.toml"),
                *("--base-url", server.base_url),
            )
        assert sorted(body["reasoning_effort"] for body in server.bodies) == ["high", "low"]

    def test_a_refused_field_names_the_option_and_stops_the_run(self, program: Program) -> None:
        with thinking_server(refused="reasoning_effort") as server:
            ended = program.run(*asked(program, server.base_url, "--reasoning-effort", "low"))
        assert ended.returncode != 0
        assert "refused the field 'reasoning_effort'" in ended.stdout + ended.stderr
        assert "--thinking-style says how" in ended.stdout + ended.stderr

    def test_a_field_of_param_is_not_overwritten(self, program: Program) -> None:
        ended = program.run(
            *asked(program, NOWHERE, "--reasoning-effort", "low", "--thinking-style", "openai"),
            *("--param", 'reasoning_effort="high"'),
        )
        assert "'reasoning_effort' is set by --param and by options for thinking" in ended.stderr
