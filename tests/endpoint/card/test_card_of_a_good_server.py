"""A server without fault: every line of its card is known, and says so."""

from __future__ import annotations

from tests.endpoint.card.conftest import examined

from benchwright.endpoint.card import CARD_LINES, State

AS_GOOD_AS_CAN_BE = {
    "server": "known",
    "models": "listed",
    "context": "known",
    "long_prompts": "read",
    "metrics": "known",
    "chat": "answers",
    "completions": "answers",
    "messages": "answers",
    "responses": "answers",
    "gemini": "answers",
    "embeddings": "answers",
    "streaming": "by_token",
    "usage": "reported",
    "usage_in_stream": "reported",
    "finish_reasons": "length",
    "token_counting": "agree",
    "output_limit": "both",
    "stop": "honoured",
    "n": "several",
    "seed": "honoured",
    "sampling": "accepted",
    "json_schema": "honoured",
    "images": "seen",
    "tools": "called",
    "several_tools": "several",
    "streamed_tools": "indexed",
    "reasoning": "none",
    "reasoning_switch": "not_on",
    "logprobs": "completions",
    "prompt_logprobs": "echo",
    "logprobs_agree": "agree",
    "prompt_cache": "reported",
    "parallel": "all",
}


async def test_every_line_is_known() -> None:
    found = await examined()
    assert {key: finding.outcome for key, finding in found.card.findings.items()} == AS_GOOD_AS_CAN_BE
    assert list(found.card.findings) == list(CARD_LINES)


async def test_all_of_it_takes_forty_requests_at_most() -> None:
    found = await examined()
    assert found.card.requests == len(found.server.asked) <= 40


async def test_requests_come_one_after_the_other_but_those_that_show_whether_they_are_answered_side_by_side() -> (
    None
):
    found = await examined()
    assert found.server.most_at_once == 4
    assert sum("Write one sentence about the" in str(asked.body) and asked.body.get("max_tokens") == 16
               for asked in found.server.asked[-4:]) == 4  # fmt: skip


async def test_answers_are_short() -> None:
    found = await examined()
    most = [asked.body.get("max_tokens") or 0 for asked in found.server.asked]
    assert max(most) <= 256
    assert sum(most) <= 1500


async def test_the_server_is_told_with_its_version_and_by_what_it_was_known() -> None:
    found = (await examined()).card.findings["server"]
    assert found.said == "vLLM 0.11.0 (recognised by its list of models)"
    assert (found.detail["name"], found.detail["version"]) == ("vllm", "0.11.0")


async def test_settings_of_the_target_are_sent_along() -> None:
    found = await examined(settings={"provider": {"order": ["one"]}})
    generating = [asked for asked in found.server.asked if asked.path.endswith("/completions")]
    assert all(asked.body["provider"] == {"order": ["one"]} for asked in generating)


async def test_what_is_good_is_good_for_evaluations() -> None:
    found = await examined()
    not_good = [key for key, finding in found.card.findings.items() if finding.state is not State.YES]
    assert not_good == ["reasoning", "reasoning_switch"]
