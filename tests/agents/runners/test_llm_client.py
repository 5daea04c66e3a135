"""`ExternalLLMClient`: a model behind an address, or behind a provider's name."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from typing import Any

import pytest
from tests.simulated import simulated_endpoint

from benchwright.agents.rollout.types import OpenAIFunctionSchema, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.errors import ProviderError, SystemicProviderError
from benchwright.endpoint.simulate import Faults, Settings, SimulatedEndpoint
from benchwright.errors import UserError

HELLO = [{"role": "user", "content": "hello there"}]
TOOL = OpenAIFunctionToolSchema(
    type="function", function=OpenAIFunctionSchema(name="now", description="The time.")
)


class TestNames:
    @pytest.mark.parametrize(
        ("typed", "api_base", "model"),
        [
            ("mine", "http://127.0.0.1:8000/v1", "openai/mine"),
            ("my-org/mine", "http://127.0.0.1:8000/v1", "openai/my-org/mine"),
            ("openai/mine", "http://127.0.0.1:8000/v1", "openai/mine"),
            ("gpt-5-mini", None, "openai/gpt-5-mini"),
            ("openai/gpt-5-mini", None, "openai/gpt-5-mini"),
            ("anthropic/claude-sonnet-4-5", None, "anthropic/claude-sonnet-4-5"),
        ],
    )
    def test_the_model_has_its_provider_in_front_and_is_shown_as_typed(
        self, typed: str, api_base: str | None, model: str
    ) -> None:
        client = ExternalLLMClient(typed, "key", api_base)
        assert (client.display_name, client.model) == (typed, model)
        assert (client.api_key, client.api_base) == ("key", api_base)

    def test_the_default_model(self) -> None:
        assert ExternalLLMClient().display_name == "gpt-5-mini"

    @pytest.mark.parametrize("typed", ["mine", "my-org/mine", "openai/mine"])
    async def test_at_a_given_address_the_model_is_asked_by_the_name_as_typed(
        self, server: Any, typed: str
    ) -> None:
        async with ExternalLLMClient(typed, api_base=server.base_url) as client:
            await client.chat_completions(HELLO)
        assert server.requests[0].body["model"] == typed

    async def test_openais_models_are_asked_at_its_address_from_the_environment(
        self, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        async with ExternalLLMClient("openai/gpt-5-mini") as client:
            await client.chat_completions(HELLO)
        assert server.requests[0].body["model"] == "gpt-5-mini"

    def test_an_address_that_is_none_is_noticed_at_once(self) -> None:
        with pytest.raises(UserError, match=r"'localhost:8000' is not an http:// or https:// address"):
            ExternalLLMClient("mine", api_base="localhost:8000")

    async def test_another_provider_needs_litellm_and_the_line_says_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "litellm", None)
        with pytest.raises(SystemicProviderError, match=r"pip install 'benchwright\[litellm\]'"):
            await ExternalLLMClient("anthropic/claude-sonnet-4-5").chat_completions(HELLO)


class TestKeys:
    @pytest.mark.parametrize("key", [None, "EMPTY"])
    async def test_without_a_key_no_authorization_is_sent(self, server: Any, key: str | None) -> None:
        async with ExternalLLMClient("mine", api_key=key, api_base=server.base_url) as client:
            result = await client.chat_completions(HELLO)
        assert result.content == "hello"
        assert "authorization" not in server.requests[0].headers

    @pytest.mark.parametrize("name", ["BENCHWRIGHT_API_KEY", "OPENAI_API_KEY", "LITELLM_API_KEY"])
    async def test_a_key_is_found_in_the_environment(
        self, server: Any, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setenv(name, "sk-from-outside")
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            await client.chat_completions(HELLO)
        assert server.requests[0].headers["authorization"] == "Bearer sk-from-outside"

    async def test_a_given_key_goes_before_all_others(
        self, server: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_API_KEY", "sk-from-outside")
        async with ExternalLLMClient("mine", "sk-given", server.base_url) as client:
            await client.chat_completions(HELLO)
        assert server.requests[0].headers["authorization"] == "Bearer sk-given"

    async def test_a_key_that_no_header_can_carry_is_refused(self, server: Any) -> None:
        with pytest.raises(ProviderError, match="contains characters"):
            await ExternalLLMClient("mine", "sk-\n", server.base_url).chat_completions(HELLO)

    async def test_openai_without_a_key_is_a_provider_error_that_stops_runners(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("BENCHWRIGHT_API_KEY", "OPENAI_API_KEY", "LITELLM_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        client = ExternalLLMClient("gpt-5-mini")
        with pytest.raises(ProviderError, match="Missing API key for provider 'openai'") as raised:
            await client.chat_completions(HELLO)
        assert isinstance(raised.value, SystemicProviderError)
        assert client.failure is raised.value
        with pytest.raises(ProviderError, match="Missing API key for provider 'openai'"):
            await client.preflight_check()

    async def test_a_foreign_host_that_gets_the_key_of_another_is_named(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
        ExternalLLMClient("mine", api_base="http://gpu.example/v1").get_connection()
        assert "Sending OPENAI_API_KEY to gpu.example" in caplog.text


class TestAnswers:
    async def test_keywords_are_body_fields_and_nothing_else_is_sent(self, server: Any) -> None:
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            await client.chat_completions(HELLO, temperature=0.5, top_p=None)
        assert server.requests[0].body == {"model": "mine", "messages": HELLO, "temperature": 0.5}

    async def test_tools_are_offered_until_they_are_cleared(self, server: Any) -> None:
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            client.set_tools([TOOL])
            await client.chat_completions(HELLO)
            client.clear_tools()
            await client.chat_completions(HELLO)
        offered = [request.body.get("tools") for request in server.requests]
        assert offered == [[TOOL.model_dump(exclude_none=True)], None]

    async def test_what_the_server_leaves_out_has_a_default(self, server: Any) -> None:
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            result = await client.chat_completions(HELLO)
        assert result.message == {"role": "assistant", "content": "hello"}
        assert (result.finish_reason, result.usage["total_tokens"]) == ("stop", 0)

    async def test_metrics_add_up_until_they_are_reset(self) -> None:
        async with (
            SimulatedEndpoint() as endpoint,
            ExternalLLMClient("m", api_base=endpoint.base_url) as client,
        ):
            await client.chat_completions(HELLO)
            await client.chat_completions(HELLO)
            metrics = client.get_metrics()
            assert metrics.num_llm_calls == endpoint.stats.requests == 2
            assert metrics.prompt_tokens == endpoint.stats.prompt_tokens
            assert metrics.response_tokens == endpoint.stats.generation_tokens
            assert metrics.llm_latency_ms > 0
            client.reset_metrics()
            assert client.get_metrics() == RolloutMetrics()


class TestFailures:
    """One request each: the documented client does not ask again."""

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            (Settings(api_key="sk-the-right-one"), "refused the key"),
            (Settings(models=("other",)), "does not serve the model 'mine'"),
        ],
    )
    async def test_what_no_request_can_pass_is_systemic(self, settings: Settings, words: str) -> None:
        async with SimulatedEndpoint(settings) as endpoint:
            client = ExternalLLMClient("mine", "sk-a-wrong-one", endpoint.base_url)
            with pytest.raises(SystemicProviderError, match=words) as raised:
                await client.chat_completions(HELLO)
            await client.close()
        assert client.failure is raised.value

    async def test_so_is_a_closed_port(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            with pytest.raises(SystemicProviderError, match="Cannot connect to"):
                await ExternalLLMClient("mine", api_base=base_url).chat_completions(HELLO)

    @pytest.mark.parametrize(
        ("faults", "words"),
        [
            (
                Faults(rate_limit=1.0),
                r"^Rate limit exceeded\. Try reducing dataset size with --limit\. Details: .*429",
            ),
            (Faults(server_error=1.0), r"^LLM API error \(HTTP 500\): "),
            (Faults(malformed=1.0), "^Unexpected error: "),
            (Faults(reset=1.0), "^Unexpected error: "),
        ],
    )
    async def test_what_may_pass_the_next_time_is_not(self, faults: Faults, words: str) -> None:
        async with (
            SimulatedEndpoint(Settings(faults=faults)) as endpoint,
            ExternalLLMClient("mine", api_base=endpoint.base_url) as client,
        ):
            with pytest.raises(ProviderError, match=words) as raised:
                await client.chat_completions(HELLO)
            assert not isinstance(raised.value, SystemicProviderError)
            assert sum(endpoint.stats.faults.values()) == 1

    async def test_a_failure_is_forgotten_with_the_next_answer(self) -> None:
        settings = Settings(faults=Faults(server_error=1.0, max_faults=1))
        async with (
            SimulatedEndpoint(settings) as endpoint,
            ExternalLLMClient("m", api_base=endpoint.base_url) as client,
        ):
            with pytest.raises(ProviderError):
                await client.chat_completions(HELLO)
            await client.chat_completions(HELLO)
            assert client.failure is None


class TestPreflight:
    async def test_asks_for_one_token(self, server: Any) -> None:
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            await client.preflight_check()
        (request,) = server.requests
        assert request.body["messages"] == [{"role": "user", "content": "hi"}]
        assert request.body["max_tokens"] == 1

    async def test_counts_for_nothing(self, server: Any) -> None:
        async with ExternalLLMClient("mine", api_base=server.base_url) as client:
            await client.preflight_check()
            assert client.get_metrics() == RolloutMetrics()

    async def test_raises_what_is_systemic(self) -> None:
        async with SimulatedEndpoint(Settings(api_key="sk-the-right-one")) as endpoint:
            with pytest.raises(SystemicProviderError):
                await ExternalLLMClient("mine", api_base=endpoint.base_url).preflight_check()

    async def test_passes_over_what_is_not(self) -> None:
        async with (
            SimulatedEndpoint(Settings(faults=Faults(rate_limit=1.0))) as endpoint,
            ExternalLLMClient("mine", api_base=endpoint.base_url) as client,
        ):
            await client.preflight_check()
            assert endpoint.stats.faults["rate_limit"] == 1


class TestLife:
    async def test_closing_twice_is_closing_once_and_a_later_call_opens_anew(self, server: Any) -> None:
        client = ExternalLLMClient("mine", api_base=server.base_url)
        await client.chat_completions(HELLO)
        await client.close()
        await client.close()
        await client.chat_completions(HELLO)
        await client.close()
        assert len(server.requests) == 2

    @pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
    def test_one_client_works_in_one_event_loop_after_the_other(self) -> None:
        """Also where nobody closed it before the first loop ended."""
        with simulated_endpoint() as base_url:
            client = ExternalLLMClient("mine", api_base=base_url)
            answers = [asyncio.run(client.chat_completions(HELLO)) for _ in range(2)]
        del client
        gc.collect()
        assert [answer.content for answer in answers] == ["hello there"] * 2

    async def test_a_clone_speaks_to_the_same_model_and_counts_for_itself(self, server: Any) -> None:
        client = ExternalLLMClient("my-org/mine", "sk-given", server.base_url)
        async with client.clone() as clone:
            await clone.chat_completions(HELLO)
        assert (clone.display_name, clone.model) == (client.display_name, client.model)
        assert server.requests[0].headers["authorization"] == "Bearer sk-given"
        assert client.get_metrics().num_llm_calls == 0


async def test_within_a_session_calls_are_the_sessions(scripted: Any) -> None:
    """`scripted` is a session of the engine that says what it is told."""
    session = scripted(scripted.says("hi"))
    client = ExternalLLMClient("mine", api_base="http://127.0.0.1:9/v1")
    with client.use_session(session, "primary-3"):
        result = await client.chat_completions(HELLO, temperature=0.5)
        assert client.get_metrics().prompt_tokens == 10
    assert result.content == "hi"
    assert session.asked == [(HELLO, {"temperature": 0.5})]
