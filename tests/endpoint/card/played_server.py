"""A server that behaves as a test says: well in all that the test does not name.

It speaks as vLLM does where servers differ. Its model knows one sentence about the sea, sums, colours and the weather;
a token takes a millisecond, so that answers that are written at the same time can be seen to be.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SENTENCE = [
    "The",
    " sea",
    " is",
    " wide",
    " and",
    " deep",
    ",",
    " cold",
    " and",
    " blue",
    " in",
    " the",
    " light",
]
SENTENCE += [" of", " a", " day", " that", " ends", " late", " in", " summer", "."]
COMPLETION = [" Paris", ".", " It", " lies", " on", " the", " Seine"]
CALLS = [
    {
        "id": f"call_{city}",
        "type": "function",
        "function": {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'},
    }
    for city in ("Paris", "Rome")
]
TEMPLATE_TOKENS = 5
TOOL_TOKENS = 40
THOUGHT = ["Let", " me", " add", ":", " 7", " and", " 5", " make", " 12", "."]


@dataclass
class Behaviour:
    """How the server behaves; the defaults are those of a server without fault, and of a model that does not think."""

    models: tuple[str, ...] | None = ("m",)
    owner: str = "vllm"
    version: dict[str, Any] | None = field(default_factory=lambda: {"version": "0.11.0"})
    entry: dict[str, Any] = field(default_factory=lambda: {"max_model_len": 32_768})
    metrics: str | None = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n"
    headers: dict[str, str] = field(default_factory=dict)
    window: int = 32_768
    long_prompts: str = "refused"
    missing: frozenset[str] = frozenset()
    """Paths that are not there."""
    refusals: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By the name of a body field that is refused: status and message."""
    hangs: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    """Paths, or body fields, with which a request is left without an answer, or its connection is closed."""
    key: str | None = None
    busy: int = 0
    """So many requests are first answered with 429."""
    stream: str = "by_token"
    always_streams: bool = False
    usage: str = "reported"
    stream_usage: str = "reported"
    length_reason: str | None = "length"
    honours_limit: bool = True
    honours_other_limit: bool = True
    stop: str = "honoured"
    n: bool = True
    seed: str = "honoured"
    json_schema: str = "honoured"
    images: str = "seen"
    tools: str = "called"
    calls: int = 2
    stream_tools: str = "indexed"
    thinking: str | None = None
    switch: str | None = None
    """The body field that turns thinking off, or on where there is none by itself."""
    logprobs: frozenset[str] = frozenset({"completions", "chat"})
    shape: str = "completions"
    """Of log-probabilities in completions; llama.cpp has the shape of chat."""
    echo: str = "right"
    prompt_logprobs: bool = True
    cache: str = "reported"
    tokenize: str = "count"
    extra_token: int = 0
    token_seconds: float = 0.001
    loads_for: float = 0.0
    """Seconds that the first answer takes besides, as the model is loaded."""
    slots: int = 100
    interrupts: bool = False


class Asked(NamedTuple):
    """A request that the server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Refused(Exception):
    """A refusal with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class PlayedServer:
    """The server; `asked` is what it was asked, in turn, and `most_at_once` how many requests it had at one moment."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._now = 0
        self._slots = asyncio.Semaphore(behaviour.slots)
        self._cached: set[str] = set()
        self._writing: asyncio.Task[Any] | None = None
        self.base_url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of one connection."""
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                self._now += 1
                self.most_at_once = max(self.most_at_once, self._now)
                try:
                    await self._answer(asked, writer)
                finally:
                    self._now -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        named = {asked.path, *asked.body}
        if named & self.behaviour.hangs:
            await asyncio.sleep(60)
        if named & self.behaviour.closes:
            raise ConnectionError
        try:
            await self._answer_well(asked, writer)
        except Refused as refusal:
            status, said = refusal.status, {"message": str(refusal)}
            body: dict[str, Any] = {"said": said} if status == 200 else {"error": said}
            await _write(writer, status, json.dumps(body).encode(), self.behaviour.headers)

    async def _answer_well(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        played, path, body = self.behaviour, asked.path, asked.body
        if path in played.missing:
            raise Refused(404, "Not Found")
        if played.key is not None and asked.headers.get("authorization") != f"Bearer {played.key}":
            raise Refused(401, "no valid key")
        if played.busy:
            played.busy -= 1
            raise Refused(429, "too many requests")
        for name, (status, message) in played.refusals.items():
            if name in body or name == path:
                raise Refused(status, message)
        if path == "/metrics" and played.metrics is not None:
            await _write(writer, 200, played.metrics.encode(), {"content-type": "text/plain"})
        elif path in ("/v1/chat/completions", "/v1/completions"):
            await self._generate(asked, writer)
        else:
            await _write(writer, 200, json.dumps(self._document(path, body)).encode(), played.headers)

    def _document(self, path: str, body: dict[str, Any]) -> Any:
        played = self.behaviour
        match path:
            case "/v1/models" if played.models is not None:
                entries = [{"id": name, "owned_by": played.owner, **played.entry} for name in played.models]
                return {"object": "list", "data": entries}
            case "/version" if played.version is not None:
                return played.version
            case "/v1/messages":
                return {"type": "message", "content": [{"type": "text", "text": "Hello."}]}
            case "/v1/responses":
                return {"object": "response", "output": []}
            case "/v1/embeddings":
                return {"data": [{"index": 0, "embedding": [0.5] * 8}]}
            case "/tokenize" if played.tokenize == "count":
                return {"count": len(words(body["prompt"])), "tokens": []}
            case "/tokenize" if played.tokenize == "content":
                return {"tokens": list(range(len(words(body.get("content", "")))))}
            case _ if path.endswith(":generateContent"):
                return {"candidates": [{"content": {"parts": [{"text": "Hello."}]}}]}
        raise Refused(404, "Not Found")

    # Answers

    async def _generate(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if self.behaviour.interrupts and self._writing is not None:
            self._writing.cancel()
        self._writing = asyncio.current_task()
        answer = GeneratedAnswer(self.behaviour, asked, self._cached)
        seconds, self.behaviour.loads_for = self.behaviour.loads_for, 0.0
        await asyncio.sleep(seconds)
        async with self._slots:
            whole = self.behaviour.stream == "whole" or (
                "tools" in asked.body and self.behaviour.stream_tools == "whole"
            )
            if (asked.body.get("stream") and not whole) or self.behaviour.always_streams:
                await self._stream(answer, writer)
            else:
                await asyncio.sleep(self.behaviour.token_seconds * len(answer.tokens))
                await _write(writer, 200, json.dumps(answer.whole()).encode(), self.behaviour.headers)
        self._writing = None

    async def _stream(self, answer: GeneratedAnswer, writer: asyncio.StreamWriter) -> None:
        await _begin(writer, {"content-type": "text/event-stream", **self.behaviour.headers})
        held: list[bytes] = []
        for event in answer.events():
            await asyncio.sleep(self.behaviour.token_seconds)
            data = b"data: " + json.dumps(event).encode() + b"\n\n"
            if self.behaviour.stream == "held_back":
                held.append(data)
            else:
                await _chunk(writer, data)
        await _chunk(writer, b"".join(held) + b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()


class GeneratedAnswer:
    """What the model answers to one request."""

    def __init__(self, played: Behaviour, asked: Asked, cached: set[str]) -> None:
        self.played = played
        self.body = asked.body
        self.chat = asked.path.endswith("/chat/completions")
        self.question = _question(asked.body)
        self.prompt_tokens = self._read_prompt()
        self.cached_tokens = self._from_cache(cached)
        self.thought, self.tokens, self.calls = self._say()
        self.finish_reason: str | None = "tool_calls" if self.calls else "stop"
        self._stop()
        self._cut_off()

    def _read_prompt(self) -> int:
        counted = len(words(self.question)) + (TEMPLATE_TOKENS if self.chat else self.played.extra_token)
        if "tools" in self.body and self.played.tools != "not_passed_on":
            counted += TOOL_TOKENS
        if counted > self.played.window:
            if self.played.long_prompts == "refused":
                raise Refused(400, f"the prompt has {counted} tokens, the window {self.played.window}")
            if self.played.long_prompts == "cut":
                return self.played.window // 2
        return counted

    def _from_cache(self, cached: set[str]) -> int:
        known = self.question in cached
        cached.add(self.question)
        return self.prompt_tokens - 1 if known and self.played.cache == "reported" else 0

    def _say(self) -> tuple[list[str], list[str], list[dict[str, Any]]]:
        """(thinking, text, calls)."""
        played, body = self.played, self.body
        thought = THOUGHT * 4 if self._thinks() else []
        makes_calls = played.tools in ("called", "odd", "function_call")
        required = played.tools == "only_required" and "tool_choice" in body
        if "tools" in body and (makes_calls or required):
            return thought, [], CALLS[: played.calls]
        if "tools" in body and played.tools == "as_text":
            return thought, ['<tool_call>{"name": "get_weather"}</tool_call>'], []
        wanted = body.get("response_format")
        if wanted and played.json_schema == "honoured":
            return thought, ['{"animal": "dog",', ' "legs": 4}'], []
        if "square" in self.question:
            return thought, ["Red" if played.images == "seen" else "Blue"], []
        if "7 + 5" in self.question:
            return thought, ["12"], []
        if not self.chat:
            return thought, COMPLETION[_known(self.question) :], []
        return thought, self._sentence(), []

    def _thinks(self) -> bool:
        switched = self.played.switch is not None and self.played.switch in self.body
        return (self.played.thinking is not None) != switched

    def _sentence(self) -> list[str]:
        seed = self.body.get("seed")
        if seed is None or self.played.seed == "no_effect":
            return list(SENTENCE)
        shuffled = list(SENTENCE)
        random.Random(None if self.played.seed == "ignored" else seed).shuffle(shuffled)
        return shuffled

    def _stop(self) -> None:
        if "stop" not in self.body or self.played.stop == "ignored":
            return
        text = "".join(self.tokens)
        places = [text.find(string) for string in self.body["stop"] if string in text]
        if places:
            self.tokens = [text[: min(places) + (self.played.stop == "left_in")]]

    def _cut_off(self) -> None:
        limits = [self.body.get("max_tokens")]
        if self.played.honours_other_limit:
            limits.append(self.body.get("max_completion_tokens"))
        known = [limit for limit in limits if limit is not None]
        if not known or not self.played.honours_limit:
            self.tokens *= 1 if self.played.honours_limit else 2
            return
        most = min(known)
        if len(self.thought) + len(self.tokens) > most:
            self.thought = self.thought[:most]
            self.tokens = self.tokens[: most - len(self.thought)]
            self.finish_reason = self.played.length_reason

    @property
    def completion_tokens(self) -> int:
        return len(self.thought) + len(self.tokens) + 20 * len(self.calls)

    def usage(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }
        if self.thought and self.played.thinking == "counted":
            told["completion_tokens_details"] = {"reasoning_tokens": len(self.thought)}
        if self.played.cache in ("reported", "none"):
            told["prompt_tokens_details"] = {"cached_tokens": self.cached_tokens}
        return told

    def parts(self) -> Iterator[dict[str, Any]]:
        """The deltas of a stream."""
        where = self.played.thinking or "reasoning_content"
        if self.thought and where in ("inline", "only_its_end"):
            yield from (
                {"content": text}
                for text in ["<think>" if where == "inline" else "", *self.thought, "</think>"]
            )
        elif self.thought and where != "counted":
            yield from ({where: text} for text in self.thought)
        yield from ({"content": text} for text in self.tokens)

    def whole(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant"}
        for part in self.parts():
            for name, text in part.items():
                message[name] = message.get(name, "") + text
        if self.calls and self.played.tools == "function_call":
            message["function_call"] = self.calls[0]["function"]
        elif self.calls:
            message["tool_calls"] = self._calls()
        choice: dict[str, Any] = {"index": 0, "finish_reason": self.finish_reason}
        choice |= {"message": message} if self.chat else {"text": message.get("content", "")}
        if (values := self._logprobs()) is not None:
            choice["logprobs"] = values
        if self.body.get("prompt_logprobs") and self.played.prompt_logprobs:
            choice["prompt_logprobs"] = self._prompt_logprobs()
        many = self.body.get("n", 1) if self.played.n else 1
        answer = {"choices": [{**choice, "index": place} for place in range(many)]}
        told = {"reported": self.usage(), "in_part": {"prompt_tokens": 3}}.get(self.played.usage)
        return answer | ({"usage": told} if told else {})

    def _calls(self) -> list[dict[str, Any]]:
        if self.played.tools == "odd":
            return [{"function": call["function"]} for call in self.calls]
        return self.calls

    def events(self) -> Iterator[dict[str, Any]]:
        parts = list(self.parts())
        if self.played.stream == "one_piece":
            parts = [{"content": "".join(self.tokens)}]
        elif self.played.stream == "several_tokens":
            parts = [
                {"content": "".join(self.tokens[place : place + 3])}
                for place in range(0, len(self.tokens), 3)
            ]
        yield self._event({"role": "assistant"})
        for part in parts:
            yield self._event(part)
        for place, call in enumerate(self.calls if self.played.stream_tools != "none" else []):
            yield from (self._event({"tool_calls": [piece]}) for piece in self._call_pieces(place, call))
        yield self._event({}, self.finish_reason)
        wanted = (self.body.get("stream_options") or {}).get("include_usage")
        if wanted and self.played.stream_usage != "none":
            usage = self.usage() | ({"completion_tokens": 0} if self.played.stream_usage == "nothing" else {})
            yield {"choices": [], "usage": usage}

    def _call_pieces(self, place: int, call: dict[str, Any]) -> list[dict[str, Any]]:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        match self.played.stream_tools:
            case "no_index":
                return [call]
            case "same_index":
                return [{**call, "index": 0}]
            case "misread":
                named = {"name": name} if place == 0 else {}
                return [{"index": 0, "id": call["id"], "function": {**named, "arguments": arguments}}]
        halves = arguments[:4], arguments[4:]
        return [
            {
                "index": place,
                "id": call["id"],
                "type": "function",
                "function": {"name": name, "arguments": ""},
            },
            *({"index": place, "function": {"arguments": half}} for half in halves),
        ]

    def _event(self, part: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        content = {"delta": part} if self.chat else {"text": part.get("content", "")}
        return {"choices": [{"index": 0, "finish_reason": finish_reason, **content}]}

    # Log-probabilities

    def _logprobs(self) -> dict[str, Any] | None:
        if not self.body.get("logprobs"):
            return None
        if self.chat:
            return (
                {"content": [chat_entry(token) for token in self.tokens]}
                if "chat" in self.played.logprobs
                else None
            )
        if "completions" not in self.played.logprobs:
            return None
        if self.played.shape == "chat":
            return {"content": [chat_entry(token) for token in self.tokens]}
        tokens = list(self.tokens)
        values: list[float | None] = [value_of(token) for token in self.tokens]
        tops: list[dict[str, float] | None] = [{token: value_of(token)} for token in self.tokens]
        if self.body.get("echo") and self.played.echo != "none":
            echoed = words(self.question)
            tokens, values = echoed + tokens, [None, *(value_of(token) for token in echoed[1:]), *values]
            values, tops = self._echoed(tokens, values)
        return {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops}

    def _echoed(self, tokens: list[str], values: list[Any]) -> tuple[list[Any], list[Any]]:
        """The values of the echo, each in its place or beside it."""
        likeliest = [{token: value_of(token)} for token in tokens]
        if self.played.echo == "late":  # each token is looked up among the values of the next position
            return [None, *(value - 8 for value in values[1:])], [None, *likeliest[2:], {"x": -1.0}]
        if self.played.echo == "early":
            return [None, None, *values[1:-1]], [None, None, *likeliest[1:-1]]
        if self.played.echo == "wrong":
            return [None, *(-9.0 - place for place, _ in enumerate(values[1:]))], [None, *likeliest[1:]]
        return values, [None, *likeliest[1:]]

    def _prompt_logprobs(self) -> list[Any]:
        listed = [
            {"7": {"logprob": value_of(token), "decoded_token": token}} for token in words(self.question)
        ]
        return [None, *listed[1:]]


def value_of(token: str) -> float:
    """The log-probability of a token, always the same."""
    return -0.2 - sum(token.encode()) % 97 / 20


def chat_entry(token: str) -> dict[str, Any]:
    """A token with its value as chat completions tell it."""
    return {
        "token": token,
        "logprob": value_of(token),
        "top_logprobs": [{"token": token, "logprob": value_of(token)}],
    }


def words(text: str) -> list[str]:
    """The tokens of a text: its words, each with the blank before it, and its marks."""
    return re.findall(r" ?\w+|[^\w ]| ", text)


def _known(prompt: str) -> int:
    """How many tokens of the completion a prompt has already."""
    return sum("".join(COMPLETION[: place + 1]) in prompt for place in range(len(COMPLETION)))


def _question(body: dict[str, Any]) -> str:
    if "prompt" in body:
        return str(body["prompt"])
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


# HTTP


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    line, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = line.split()
    return Asked(method, path, headers, json.loads(body) if body else {})


async def _write(writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str]) -> None:
    told = {"content-type": "application/json", **headers, "content-length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body)
    await writer.drain()


async def _begin(writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 200 OK\r\n{lines}transfer-encoding: chunked\r\n\r\n".encode())
    await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
    await writer.drain()


@asynccontextmanager
async def played(behaviour: Behaviour) -> AsyncIterator[PlayedServer]:
    """Starts a server that behaves like this."""
    server = PlayedServer(behaviour)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()


@contextmanager
def served(**behaviour: Any) -> Iterator[PlayedServer]:
    """The same in a thread, for tests that run programs."""
    loop, ready, server = asyncio.new_event_loop(), threading.Event(), PlayedServer(Behaviour(**behaviour))

    async def listen() -> None:
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        ready.set()
        async with listener:
            await ended.wait()

    ended = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(listen(),))
    thread.start()
    ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
