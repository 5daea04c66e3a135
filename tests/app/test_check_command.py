"""`check`: the documented line first, then the card; for people, for programs, and when it is interrupted."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.endpoint.card.played_server import served
from tests.terminal import on_a_terminal

from benchwright import UserError, check
from benchwright.endpoint.card import CARD_LINES

KEY = "sk-a-key-that-nobody-may-see"


def asked(base_url: str, *more: str) -> list[str]:
    return ["check", "--model", "m", "--base-url", base_url, *more]


class TestTheCard:
    def test_comes_after_the_documented_line(self, program: Program) -> None:
        with served() as server:
            ended = program.run(*asked(server.base_url))
        assert (ended.returncode, ended.stderr) == (0, "")
        first, blank, heading, *_ = ended.stdout.splitlines()
        assert first == f"Connected to {server.base_url}. Model 'm' is available."
        assert (blank, heading.strip()) == ("", "Server")

    def test_has_every_line_once_below_its_group(self, program: Program) -> None:
        with served() as server:
            shown = program.run(*asked(server.base_url)).stdout
        lines = [line for line in shown.splitlines() if re.match(r"^\S.{20,} (yes|no|partly|\?) ", line)]
        assert [re.split(r"  +", line)[0] for line in lines] == [line.title for line in CARD_LINES.values()]

    @pytest.mark.parametrize("columns", [80, 120])
    def test_lines_up_in_a_terminal(self, program: Program, columns: int) -> None:
        with served(
            refusals={"tools": (400, "auto tool choice requires " + "--enable-auto-tool-choice " * 5)}
        ) as server:
            shown = on_a_terminal(program, asked(server.base_url), columns=columns)
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.text).replace("\r", "")
        card = text[text.index("\nServer\n") :].splitlines()
        assert max(map(len, card)) <= columns
        states = [
            line.index(word) for line in card for word in (" yes ", " no ", " partly ") if word in line[20:30]
        ]
        assert len(set(states)) == 1

    def test_says_what_is_being_looked_for_on_a_terminal_only(self, program: Program) -> None:
        with served() as server:
            shown = on_a_terminal(program, asked(server.base_url))
        assert "Request 1: list of models" in shown.text
        assert "parallel requests …" in shown.text

    def test_ends_with_what_to_do_where_time_was_lacking(self, program: Program) -> None:
        with served(hangs={"n"}) as server:
            shown = program.run(*asked(server.base_url, "--request-seconds", "0.5")).stdout
        assert "1 request had no answer in time: --request-seconds gives a slow server more." in shown


class TestForPrograms:
    def test_json_is_the_card_and_nothing_else(self, program: Program) -> None:
        with served() as server:
            ended = program.run(*asked(server.base_url, "--json"))
        card = json.loads(ended.stdout)
        assert card.keys() == {"base_url", "model", "checked_at", "requests", "seconds", "findings"}
        assert card["findings"].keys() == CARD_LINES.keys()
        assert card["findings"]["usage_in_stream"] == {
            "state": "yes",
            "outcome": "reported",
            "said": "16 tokens of the answer",
            "follows": "Tokens/s, cost and budgets are exact.",
            "detail": {"completion": 16},
        }
        assert "is available" in ended.stderr

    def test_python_returns_the_same_card(self) -> None:
        with served(stream_usage="none") as server:
            card = check("m", server.base_url)
        assert card.findings["usage_in_stream"].outcome == "none"
        assert card.requests == len(server.asked)

    def test_python_says_that_nobody_is_there(self) -> None:
        with pytest.raises(UserError, match="Cannot connect to"):
            check("m", NOWHERE)


class TestBrief:
    def test_only_the_models_are_asked_for(self, program: Program) -> None:
        with served() as server:
            ended = program.run(*asked(server.base_url, "--brief"))
        assert ended.stdout == f"Connected to {server.base_url}. Model 'm' is available.\n"
        assert [each.path for each in server.asked] == ["/v1/models"]


class TestExitCodes:
    def test_a_server_without_a_list_of_models_is_one_all_the_same(self, program: Program) -> None:
        with served(models=None) as server:
            ended = program.run(*asked(server.base_url))
        assert ended.returncode == 0
        assert ended.stdout.startswith(f"Connected to {server.base_url}, but it lists no models (HTTP 404).")
        assert "chat completions        yes" in ended.stdout

    def test_one_of_which_nothing_answers_is_a_failed_connection(self, program: Program) -> None:
        with served(models=None, missing={"/v1/chat/completions", "/v1/completions"}) as server:
            ended = program.run(*asked(server.base_url))
        assert ended.returncode == 1
        assert "none of its routes answers" in ended.stderr

    def test_a_key_that_is_refused_is_a_failed_connection(self, program: Program) -> None:
        with served(key="right") as server:
            ended = program.run(*asked(server.base_url, "--api-key", KEY))
        assert ended.returncode == 1
        assert ended.stdout == ""
        assert KEY not in ended.stderr

    def test_a_key_that_is_taken_is_never_shown(self, program: Program) -> None:
        with served(key=KEY, refusals={"n": (400, f"not with the key {KEY}")}) as server:
            ended = program.run(*asked(server.base_url, "--api-key", KEY, "--json"))
        assert json.loads(ended.stdout)["findings"]["chat"]["outcome"] == "answers"
        assert KEY not in ended.stdout + ended.stderr


def test_ctrl_c_shows_what_is_known_so_far(program: Program) -> None:
    program.forked = False
    with served(hangs={"tools"}) as server:
        process = program.start(*asked(server.base_url))
        while not any("tools" in each.body for each in server.asked):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "usage in streams        yes" in out
    assert re.search(r"^parallel requests +\? +interrupted", out, re.M)
