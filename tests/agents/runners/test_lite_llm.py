"""Models of other providers, through LiteLLM; its provider `hosted_vllm` can be any address."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from tests.gateway import gateway

from benchwright.agents.eval_fns import EvalFnWrapper
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.errors import ProviderError, SystemicProviderError
from benchwright.agents.runners.evaluation import EvalRunner
from benchwright.endpoint.access import Access, make_headers
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL, LiteLLMClient
from benchwright.endpoint.providers import check_target, connect_client, find_target
from benchwright.endpoint.simulate import Faults, Settings, SimulatedEndpoint
from benchwright.errors import ProviderError as EndpointError
from benchwright.errors import UserError
from benchwright.records import SIMULATED_FLAG, RequestRecord, Target

pytestmark = [
    pytest.mark.skipif(find_spec("litellm") is None, reason="the extra `litellm` is not installed"),
    pytest.mark.filterwarnings("default"),
]

HELLO = [{"role": "user", "content": "hello there"}]
MODEL = "hosted_vllm/mine"


@pytest.fixture
def leads_to(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets the provider's name lead to an endpoint."""
    return lambda endpoint: monkeypatch.setenv("HOSTED_VLLM_API_BASE", endpoint.base_url)


async def test_an_answer_is_like_any_other(leads_to: Any) -> None:
    async with SimulatedEndpoint() as endpoint:
        leads_to(endpoint)
        client = ExternalLLMClient(MODEL)
        result = await client.chat_completions(HELLO, temperature=0.5)
    assert result.message == {"role": "assistant", "content": "hello there"}
    assert result.finish_reason == "stop"
    metrics = client.get_metrics()
    assert metrics.prompt_tokens == endpoint.stats.prompt_tokens
    assert metrics.response_tokens == endpoint.stats.generation_tokens
    assert metrics.llm_latency_ms > 0


@pytest.mark.parametrize("settings", [Settings(), Settings(reasoning="Well.")])
async def test_an_answer_of_a_simulated_server_is_marked(leads_to: Any, settings: Settings) -> None:
    requests: list[RequestRecord] = []
    async with SimulatedEndpoint(settings) as endpoint:
        leads_to(endpoint)
        client = LiteLLMClient(Target(slot="model", model=MODEL, base_url=LITELLM_BASE_URL))
        await client.ask("/chat/completions", {"messages": HELLO}, note=requests.append)
    assert [SIMULATED_FLAG in request.flags for request in requests] == [True]


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (
            Faults(rate_limit=1.0),
            r"^Rate limit exceeded\. Try reducing dataset size with --limit\. Details: ",
        ),
        (Faults(server_error=1.0), r"^LLM API error \(HTTP 500\): "),
    ],
)
async def test_a_failure_has_the_documented_words_and_is_not_tried_again(
    leads_to: Any, faults: Faults, words: str
) -> None:
    async with SimulatedEndpoint(Settings(faults=faults)) as endpoint:
        leads_to(endpoint)
        with pytest.raises(ProviderError, match=words) as raised:
            await ExternalLLMClient(MODEL).chat_completions(HELLO)
        assert sum(endpoint.stats.faults.values()) == 1
    assert not isinstance(raised.value, SystemicProviderError)


async def test_headers_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    with gateway({"X-Team": "blue"}) as gate:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", gate.base_url)
        client = connect_client(
            find_target(MODEL, None), Access(headers=make_headers({"X-Team": "blue"}, {}))
        )
        reply = await client.ask("/chat/completions", {"messages": HELLO})
    assert reply.text == "hello there"
    assert gate.refused == []


async def test_a_seed_that_nobody_asked_for_is_left_out_once_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with gateway({}, strict=["seed"]) as gate:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", gate.base_url)
        target = find_target(MODEL, None, settings={"seed": 1})
        client = connect_client(target, added={"seed"})
        records = [(await client.ask("/chat/completions", {"messages": HELLO})).record for _ in range(2)]
        assert [record.attempts for record in records if record is not None] == [1, 1]
        assert [record.flags for record in records if record is not None] == [
            ["without:seed", "narrowed"],
            ["without:seed"],
        ]
        with pytest.raises(EndpointError, match="seed"):
            await connect_client(target).ask("/chat/completions", {"messages": HELLO})
    assert ["seed" in noted.fields for noted in gate.noted] == [True, False, False, True]


async def test_a_wrong_key_is_systemic(leads_to: Any) -> None:
    async with SimulatedEndpoint(Settings(api_key="sk-the-right-one")) as endpoint:
        leads_to(endpoint)
        with pytest.raises(SystemicProviderError, match="API key is missing or wrong"):
            await ExternalLLMClient(MODEL, "sk-a-wrong-one").chat_completions(HELLO)
        assert (await ExternalLLMClient(MODEL, "sk-the-right-one").chat_completions(HELLO)).content


async def test_so_is_a_closed_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://127.0.0.1:9/v1")
    with pytest.raises(SystemicProviderError, match="Cannot connect"):
        await ExternalLLMClient(MODEL).chat_completions(HELLO)


async def test_and_a_provider_that_nobody_knows() -> None:
    with pytest.raises(SystemicProviderError, match="LLM Provider NOT provided"):
        await ExternalLLMClient("my-org/mine").chat_completions(HELLO)


async def test_an_evaluation_runs_with_several_at_a_time(
    leads_to: Any, make_agent: Any, make_rows: Any
) -> None:
    def echo(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> float:
        return float(solution_str == f"Say {ground_truth}.")

    async with SimulatedEndpoint() as endpoint:
        leads_to(endpoint)
        runner = EvalRunner(make_agent(), ExternalLLMClient(MODEL), [EvalFnWrapper(echo, "echo")])
        result = await runner.run_eval(make_rows(6), batch_size=3)
        assert endpoint.stats.requests == 6
    assert result.eval_summaries["echo"].mean == 1.0


def test_an_unknown_provider_is_noticed_before_it_is_asked() -> None:
    with pytest.raises(UserError, match=r"Invalid LiteLLM model format.*Received model='my-org/mine'"):
        check_target(find_target("my-org/mine", None))


def test_so_is_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(
        UserError,
        match=r"Missing API key for provider 'anthropic'\. "
        r"Set ANTHROPIC_API_KEY or LITELLM_API_KEY, or pass --api-key\.",
    ):
        check_target(find_target("anthropic/claude-sonnet-4-5", None))
    monkeypatch.setenv("LITELLM_API_KEY", "sk-for-any")
    check_target(find_target("anthropic/claude-sonnet-4-5", None))
