"""Shapes of synthetic requests: lengths, turns, what they share, pictures, tools and mixed models."""

from __future__ import annotations

import base64
import random
import re
import struct
import zlib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program, one_line_of
from tests.app.load.load_kit import Heard, listening_server, measure

from benchwright.analysis.load.records import LoadReport
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.lengths import LengthDistribution
from benchwright.app.load.synthetic.message_parts import make_striped_png, tool_definition
from benchwright.app.load.synthetic.task import CONTINUE_INSTRUCTION, synthetic_prompt
from benchwright.errors import UserError

SLACK = 1.0
"""Seconds that a busy machine may be late."""


def sent(program: Program, *given: str, seconds: float = 0.0) -> tuple[LoadReport, list[Heard]]:
    """Measures with prompts of 30 tokens and the options given; what the server heard."""
    shape = () if "--synthetic-input" in given else ("--synthetic-input", "30")
    with listening_server(seconds) as (url, heard):
        return measure(program, url, *shape, *given), heard


class TestLengths:
    @given(st.sampled_from(["20", "20:100", "lognormal:20:2"]), st.integers())
    def test_a_length_is_at_least_one_token(self, text: str, seed: int) -> None:
        assert LengthDistribution.parse(text, "--synthetic-input").draw(random.Random(seed)) >= 1

    @pytest.mark.parametrize("text", ["500", "500:50", "lognormal:500:0.5"])
    def test_lengths_have_the_mean_that_was_asked_for(self, text: str) -> None:
        lengths, rng = LengthDistribution.parse(text, "--synthetic-input"), random.Random(1)
        drawn = [lengths.draw(rng) for _ in range(4000)]
        assert sum(drawn) / len(drawn) == pytest.approx(500, rel=0.04)
        assert (len(set(drawn)) == 1) == (text == "500")

    def test_those_of_a_file_are_drawn(self, tmp_path: Path) -> None:
        (tmp_path / "lengths.txt").write_text("7\n9\n")
        lengths, rng = (
            LengthDistribution.parse(f"file:{tmp_path / 'lengths.txt'}", "--synthetic-input"),
            random.Random(1),
        )
        assert {lengths.draw(rng) for _ in range(50)} == {7, 9}

    @pytest.mark.parametrize(
        "text", ["", "0", "x", "5:1:2", "lognormal:5", "normal:5:1", "nan", "5:-1", "file:no"]
    )
    def test_what_is_none_is_refused_with_the_option(self, text: str) -> None:
        with pytest.raises(UserError, match="--synthetic-output"):
            LengthDistribution.parse(text, "--synthetic-output")

    def test_prompts_and_answers_have_drawn_lengths(self, program: Program) -> None:
        given = ("--synthetic-input", "60:20", "--synthetic-output", "lognormal:20:0.5", "--requests", "12")
        _, heard = sent(program, *given)
        assert len({len(one.prompt.split()) for one in heard}) > 3
        assert len({one.body["max_tokens"] for one in heard}) > 3

    @given(st.floats(0.5, 3), st.integers(0, 50), st.integers(200, 4000))
    def test_a_calibrated_length_is_right_to_a_word(self, per_word: float, fixed: int, tokens: int) -> None:
        calibration = Calibration(per_word, float(fixed), measured=True)
        words = calibration.words_for_tokens(tokens)
        assert fixed + per_word * words == pytest.approx(tokens, abs=per_word / 2 + 1e-6)

    def test_a_length_that_was_not_calibrated_says_so(self) -> None:
        assert "not calibrated" in Calibration(measured=False).describe_length(512)
        assert "to be calibrated" in Calibration().describe_length(512)

    def test_a_prompt_has_the_words_asked_for_behind_the_instruction(self) -> None:
        assert synthetic_prompt(20, "7") == synthetic_prompt(20, "7") != synthetic_prompt(20, "8")
        assert len(synthetic_prompt(20, "7").split()) == len(CONTINUE_INSTRUCTION.split()) + 20


class TestTurns:
    def test_each_turn_says_all_that_was_said_and_comes_after_its_think_time(self, program: Program) -> None:
        given = ("--turns", "3", "--think", "0.2", "--requests", "1", "--warmup", "0")
        report, heard = sent(program, *given, seconds=0.1)
        roles = [[message["role"] for message in one.body["messages"]] for one in heard]
        assert roles == [["user"], ["user", "assistant", "user"], ["user", "assistant"] * 2 + ["user"]]
        assert heard[2].body["messages"][:3] == heard[1].body["messages"]
        pauses = [other.came - one.answered for one, other in pairwise(heard)]
        assert all(0.2 <= pause <= 0.2 + SLACK for pause in pauses)
        (level,) = report.levels
        assert (level.requests, level.counted) == (3, 3)
        assert level.latency is not None
        assert level.latency.n == 3

    def test_a_duration_ends_conversations_between_two_turns(self, program: Program) -> None:
        _, heard = sent(program, "--turns", "50", "--think", "0.3", "--duration", "1")
        assert 1 <= len(heard) <= 4

    @pytest.mark.parametrize("workers", ["1", "2"])
    def test_no_conversation_begins_in_the_place_of_one_that_the_duration_ends(
        self, program: Program, workers: str
    ) -> None:
        given = ("--turns", "50", "--think", "0.3", "--duration", "2", "--concurrency", "16")
        _, heard = sent(program, *given, "--workers", workers)
        openings = [one.came for one in heard if len(one.body["messages"]) == 1]
        assert len(openings) == 16
        last = max(one.came for one in heard) - min(openings)
        assert 1.4 < last < 2 + SLACK, "as long as the level lasts, however long processes take to start"


def test_all_requests_of_a_level_share_the_prefix_and_levels_do_not(program: Program) -> None:
    _, heard = sent(program, "--shared-prefix", "40", "--requests", "3", "--concurrency", "1,2")
    systems = [one.body["messages"][0] for one in heard]
    assert {message["role"] for message in systems} == {"system"}
    assert {len(message["content"].split()) for message in systems} == {40}
    assert [
        len({message["content"] for message in part}) for part in (systems[:3], systems[3:], systems)
    ] == [1, 1, 2]


class TestPictures:
    def test_each_prompt_has_pictures_of_its_own(self, program: Program) -> None:
        _, heard = sent(program, "--images", "2", "--image-size", "64x48", "--requests", "2")
        urls = [
            part["image_url"]["url"]
            for one in heard
            for part in one.body["messages"][0]["content"]
            if part["type"] == "image_url"
        ]
        assert len(set(urls)) == 4
        head, encoded = urls[0].split(",")
        assert head == "data:image/png;base64"
        assert struct.unpack(">II", base64.b64decode(encoded)[16:24]) == (64, 48)

    @given(st.integers(1, 70), st.integers(1, 70), st.integers())
    def test_a_picture_holds_every_row(self, width: int, height: int, seed: int) -> None:
        made = make_striped_png(width, height, random.Random(seed))
        chunks, place = [], 8
        while place < len(made):
            (length,) = struct.unpack(">I", made[place : place + 4])
            kind, data = made[place + 4 : place + 8], made[place + 8 : place + 8 + length]
            assert struct.unpack(">I", made[place + 8 + length : place + 12 + length])[0] == zlib.crc32(
                kind + data
            )
            chunks.append((kind, data))
            place += 12 + length
        assert [kind for kind, _ in chunks] == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
        assert len(zlib.decompress(chunks[2][1])) == height * (1 + -(-width // 4))


def test_tools_are_offered_and_not_to_be_called(program: Program) -> None:
    _, heard = sent(program, "--tool-definitions", "3", "--requests", "2")
    assert [one.body["tools"] for one in heard] == [[tool_definition(number) for number in range(3)]] * 2
    assert {one.body["tool_choice"] for one in heard} == {"none"}
    assert len({tool_definition(number)["function"]["name"] for number in range(500)}) == 500


class TestModels:
    def test_models_are_asked_by_their_weights_and_named_in_the_result(self, program: Program) -> None:
        report, heard = sent(program, "--model-mix", "base=3,lora=1", "--requests", "60", "--seed", "1")
        asked = Counter(one.body["model"] for one in heard)
        assert set(asked) == {"base", "lora"}
        assert asked["base"] > asked["lora"]
        assert "models mixed (base 75 %, lora 25 %)" in report.prompts

    def test_a_conversation_is_held_with_one_model(self, program: Program) -> None:
        _, heard = sent(program, "--model-mix", "a=1,b=1", "--turns", "4", "--requests", "5")
        told = {one.body["messages"][0]["content"]: set[str]() for one in heard}
        for one in heard:
            told[one.body["messages"][0]["content"]].add(one.body["model"])
        assert [len(models) for models in told.values()] == [1] * 5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--tool-definitions", "2"), "--tool-definitions needs --synthetic-input"),
        (("--synthetic-input", "5", "--think", "1"), "--think .* needs --turns 2"),
        (("--synthetic-input", "5", "--image-size", "8x8"), "--image-size needs --images"),
        (("--synthetic-input", "5", "--images", "1", "--image-size", "8"), "not a size in pixels"),
        (("--synthetic-input", "5", "--model-mix", "a"), "--model-mix 'a' is not a list"),
        (("mmlu", "--model-mix", "a=1"), "--model-mix needs --synthetic-input or a --trace"),
    ],
)
def test_what_does_not_fit_is_one_line(program: Program, given: tuple[str, ...], told: str) -> None:
    refused = program.run("load", "--model", "m", *given)
    assert refused.returncode == 1
    assert re.search(told, one_line_of(refused.stderr))
