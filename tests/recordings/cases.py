"""What the servers were asked: the cases of each server, by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

KEY = "sk-recorded-test-key"
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"enum": [1, 2, 3]}, "b": {"enum": [4, 5, 6]}},
            "required": ["a", "b"],
        },
    },
}
FORCED = {"tools": [ADD], "tool_choice": {"type": "function", "function": {"name": "add"}}}
SCHEMA = {
    "type": "object",
    "properties": {"choice": {"enum": ["A", "B"]}, "sure": {"type": "boolean"}},
    "required": ["choice", "sure"],
}
STREAM = {"stream": True}
USAGE = {"stream": True, "stream_options": {"include_usage": True}}
FAILS_IN_STREAM = {"stream": True, "frequency_penalty": -3}


@dataclass(frozen=True)
class Case:
    """One request. `plain` cases (errors, listings) are asked without the SDK."""

    path: str
    body: Any
    method: str = "POST"
    key: str | None = KEY
    plain: bool = False

    @property
    def content(self) -> str:
        """The request's body as sent; a text is sent as it is."""
        if self.body is None or isinstance(self.body, str):
            return self.body or ""
        return json.dumps(self.body)


def chat(model: str, content: str, **fields: Any) -> Case:
    """A chat completion that takes the likeliest token."""
    messages = [{"role": "user", "content": content}]
    return Case(CHAT, {"model": model, "messages": messages, "max_tokens": 100, "temperature": 0, **fields})


def completion(model: str, **fields: Any) -> Case:
    """A completion of a counted list."""
    body = {"model": model, "prompt": "One, two,", "max_tokens": 40, "temperature": 0, **fields}
    return Case(COMPLETIONS, body)


def plain(case: Case, **changes: Any) -> Case:
    """The same request, asked without the SDK."""
    return replace(case, plain=True, **changes)


MODELS = Case("/v1/models", None, method="GET", plain=True)


def common(model: str) -> dict[str, list[Case]]:
    """What every server is asked."""
    whole, streamed = chat(model, "Say it."), chat(model, "Say it.", **STREAM)
    return {
        "chat": [whole],
        "chat_stream": [streamed],
        "chat_stream_usage": [chat(model, "Say it.", **USAGE)],
        "chat_length": [chat(model, "Say it.", max_tokens=1)],
        "chat_stream_length": [chat(model, "Say it.", max_tokens=1, **USAGE)],
        "completion": [completion(model)],
        "completion_stream": [completion(model, **USAGE)],
        "keep_alive": [whole, streamed, whole],
        "models": [MODELS],
        "bad_json": [plain(whole, body='{"model": ')],
        "unknown_model": [plain(chat("no-such-model", "Say it."))],
    }


def litellm() -> dict[str, list[Case]]:
    """LiteLLM's proxy with canned answers; each model has its own."""
    return {
        **common("unicode"),
        "reasoning_stream": [chat("think-then-b", "Which one?", **USAGE)],
        "model_named_like_an_event": [chat("data: [DONE]", "Say it.", **STREAM)],
        "tools": [chat("calls-add", "Add 2 and 3.", tools=[ADD])],
        "tools_stream": [chat("calls-add", "Add 2 and 3.", tools=[ADD], **USAGE)],
        "passed_on_reasoning_stream": [chat("passed-on", "Which one?", **USAGE)],
        "passed_on_tools": [chat("passed-on", "Add twice.", tools=[ADD])],
        "passed_on_tools_stream": [chat("passed-on", "Add twice.", tools=[ADD], **USAGE)],
        "passed_on_error_in_stream": [plain(chat("passed-on", "Say it.", **FAILS_IN_STREAM))],
        "wrong_key": [plain(chat("unicode", "Say it."), key="sk-wrong")],
        "no_key": [plain(chat("unicode", "Say it."), key=None)],
        "rate_limit": [plain(chat("rate-limited", "Say it."))],
        "too_long": [plain(chat("too-long", "Say it."))],
        "server_error": [plain(chat("broken", "Say it."))],
        "overloaded": [plain(chat("overloaded", "Say it.", **STREAM))],
        "no_messages": [plain(Case(CHAT, {"model": "unicode"}))],
    }


def transformers() -> dict[str, list[Case]]:
    """`transformers serve` with a tiny Qwen3 that knows a few answers by heart."""
    model = "./tiny-qwen3"
    return {
        **common(model),
        "reasoning": [chat(model, "Which one?")],
        "reasoning_stream": [chat(model, "Which one?", **STREAM)],
        "tools": [chat(model, "Add twice.", tools=[ADD])],
        "tools_stream": [chat(model, "Add twice.", tools=[ADD], **STREAM)],
        "error_in_stream": [plain(chat(model, "Say it.", **FAILS_IN_STREAM))],
        "malformed_error_in_stream": [plain(chat(model, "Say it.", logit_bias={"1": "it's"}, **STREAM))],
        "server_error": [plain(chat(model, "Say it.", seed="none"))],
        "unknown_field": [plain(chat(model, "Say it.", top_k=1))],
    }


def llama_cpp() -> dict[str, list[Case]]:
    """llama-cpp-python's server with the same model."""
    model = "tiny-qwen3"
    schema = {"type": "json_object", "schema": SCHEMA}
    long = "Say it. " * 400
    return {
        **common(model),
        "inline_reasoning": [chat(model, "Which one?")],
        "inline_reasoning_stream": [chat(model, "Which one?", **STREAM)],
        "logprobs": [chat(model, "Say it.", max_tokens=8, logprobs=True, top_logprobs=2)],
        "logprobs_stream": [chat(model, "Say it.", max_tokens=8, logprobs=True, top_logprobs=2, **STREAM)],
        "completion_logprobs": [completion(model, max_tokens=5, logprobs=2)],
        "completion_logprobs_stream": [completion(model, max_tokens=5, logprobs=2, **STREAM)],
        "tools": [chat(model, "Add 2 and 3.", **FORCED)],
        "tools_stream": [chat(model, "Add 2 and 3.", **FORCED, **STREAM)],
        "schema": [chat(model, "Which one?", response_format=schema)],
        "schema_stream": [chat(model, "Which one?", response_format=schema, **STREAM)],
        "wrong_key": [plain(chat(model, "Say it."), key="sk-wrong")],
        "too_long": [plain(chat(model, long))],
        "too_long_stream": [plain(chat(model, long, **STREAM))],
    }


def cases_of(server: str) -> dict[str, list[Case]]:
    """The cases of a server: file name -> the requests that follow each other on one connection."""
    return {"litellm": litellm, "transformers": transformers, "llama_cpp": llama_cpp}[server]()
