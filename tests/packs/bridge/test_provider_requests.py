"""Requests that a pack makes: the cell's own token for the relay, nothing else touched, and what the provider said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.packs.bridge.bridge_kit import failure, given, run, running, scenario_pack

from benchwright.errors import ProviderError


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, list[str]]
    body: bytes


class Server:
    """A loopback server: /v1/<status> answers with that status, /v1/blank/<status> with an empty body, /v1/stream
    with three pieces, each when the one before has been taken."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def tokens(self) -> list[str | None]:
        return [",".join(asked.headers.get("authorization", [])) or None for asked in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                path = line.split()[1].decode()
                headers: dict[str, list[str]] = {}
                while (header := (await reader.readline()).strip()) != b"":
                    name, _, value = header.decode().partition(":")
                    headers.setdefault(name.lower(), []).append(value.strip())
                body = await reader.readexactly(int(headers.get("content-length", ["0"])[0]))
                self.asked.append(Asked(path, headers, body))
                await self._answer(path, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        last = path.rsplit("/", 1)[1]
        status = int(last) if last.isdigit() else 200
        if last == "stream":
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            for number in range(3):
                writer.write(b"8\r\ndata: %d\n\r\n" % number)
                await writer.drain()
                await asyncio.sleep(0.05)
            writer.write(b"0\r\n\r\n")
            return
        content = b"" if "/blank/" in path else b'{"said":"hello"}'
        writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (status, len(content), content))


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


@pytest.fixture
async def relay() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


URL = "`${context.providers[0].baseUrl}/200`"
RUN_LEVEL = "{ authorization: 'Bearer run-level-token', 'x-other': '1' }"

HTTP_GET = f"new Promise((done) => get({URL}, {{ headers: {RUN_LEVEL} }}, (m) => m.resume().on('end', done)))"

ASKING = {
    "object": f"fetch({URL}, {{ headers: {RUN_LEVEL} }})",
    "capitals": f"fetch({URL}, {{ headers: {{ Authorization: 'Bearer run-level-token', 'X-Other': '1' }} }})",
    "list": f"fetch({URL}, {{ headers: Object.entries({RUN_LEVEL}) }})",
    "headers": f"fetch({URL}, {{ headers: new Headers({RUN_LEVEL}) }})",
    "url": f"fetch(new URL({URL}), {{ headers: {RUN_LEVEL} }})",
    "request": f"fetch(new Request({URL}, {{ headers: {RUN_LEVEL} }}))",
    "request_and_init": f"fetch(new Request({URL}), {{ headers: {RUN_LEVEL} }})",
    "http": f"(({{ get }}) => {HTTP_GET})(require('node:http'))",
    "http_import": f"import('node:http').then(({{ get }}) => {HTTP_GET})",
}


async def test_requests_to_the_relay_carry_their_cells_token(relay: Server, tmp_path: Path) -> None:
    bodies = {name: f"await {call}; return passed(input);" for name, call in ASKING.items()}
    directory = scenario_pack(tmp_path / "pack", **bodies)
    async with running(directory, base_url=relay.base_url, relay_url=relay.base_url) as pack:
        for name in ASKING:
            await run(pack, name, token=f"token-{name}")
    assert relay.tokens() == [f"Bearer token-{name}" for name in ASKING]
    assert [asked.headers["x-other"] for asked in relay.asked] == [["1"]] * len(ASKING)


async def test_cells_at_once_keep_their_tokens_across_awaits_and_timers(
    relay: Server, tmp_path: Path
) -> None:
    body = f"""
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    await fetch({URL}, {{ method: "POST", body: input.generation.user }});
    return passed(input);
    """
    async with running(
        scenario_pack(tmp_path / "pack", asks=body), base_url=relay.base_url, relay_url=relay.base_url
    ) as pack:
        await asyncio.gather(
            *(pack.run(f"c{n}", given("asks", user=f"user-{n}"), token=f"token-{n}") for n in range(30))
        )
    assert {
        (asked.body.decode(), token) for asked, token in zip(relay.asked, relay.tokens(), strict=True)
    } == {(f"user-{n}", f"Bearer token-{n}") for n in range(30)}


WRONG = {
    "fetch": f"fetch({URL}, {{ headers: {{ authorization: 'Bearer wrong' }} }})",
    "request": f"fetch(new Request({URL}, {{ headers: {{ authorization: 'Bearer wrong' }} }}))",
    "http": f"(({{ get }}) => {HTTP_GET})(require('node:http'))".replace("run-level-token", "wrong"),
}


async def test_a_wrong_token_stays_wrong_and_a_missing_one_is_put_in(relay: Server, tmp_path: Path) -> None:
    calls = {**WRONG, "none": f"fetch({URL})"}
    bodies = {name: f"await {call}; return passed(input);" for name, call in calls.items()}
    directory = scenario_pack(tmp_path / "pack", **bodies)
    async with running(directory, base_url=relay.base_url, relay_url=relay.base_url) as pack:
        for name in calls:
            await run(pack, name, token="of-the-cell")
    assert relay.tokens() == ["Bearer wrong", "Bearer wrong", "Bearer wrong", "Bearer of-the-cell"]


async def test_requests_elsewhere_and_outside_cells_are_left_alone(relay: Server, tmp_path: Path) -> None:
    more = """
    exports.prepare = async (context) => {
      const headers = { authorization: "Bearer of-prepare" };
      await fetch(`${context.providers[0].baseUrl}/200`, { headers });
      return { runScenario: async (input) => {
        await fetch(input.generation.elsewhere, { headers: { authorization: "Bearer own" } });
        await fetch(input.generation.elsewhere);
        return passed(input);
      } };
    };
    """
    async with serving() as other:
        directory = scenario_pack(tmp_path / "pack", more)
        async with running(directory, base_url=relay.base_url, relay_url=relay.base_url) as pack:
            await pack.run("cell", given("ok", elsewhere=f"{other.base_url}/200"), token="token")
    assert relay.tokens() == ["Bearer of-prepare"]
    assert other.tokens() == ["Bearer own", None]


async def test_a_stream_comes_piece_by_piece(relay: Server, tmp_path: Path) -> None:
    body = """
    const response = await fetch(`${context.providers[0].baseUrl}/stream`);
    const times = []; let text = "";
    for await (const piece of response.body) { times.push(performance.now()); text += Buffer.from(piece); }
    return passed(input, { rawLog: text, score: times.at(-1) - times[0] });
    """
    async with running(
        scenario_pack(tmp_path / "pack", streams=body), base_url=relay.base_url, relay_url=relay.base_url
    ) as pack:
        result = (await run(pack, "streams", token="token")).result
    assert result.raw_log == "data: 0\ndata: 1\ndata: 2\n"
    assert result.score is not None
    assert result.score > 50, "the pieces were collected on the way"


FAIL = "return passed(input, { status: 'fail', score: 0, summary: 'it went wrong' });"


def asking(*paths: str) -> str:
    return "".join(
        f"await fetch(`${{context.providers[0].baseUrl}}/{path}`).catch(() => {{}}); " for path in paths
    )


MARKED: dict[str, tuple[str | None, bool | None]] = {
    "200": (None, None),
    "503": ("provider_error", True),
    "429": ("provider_error", True),
    "404": ("provider_error", False),
    "503 200": (None, None),
    "200 500": ("provider_error", True),
    "": (None, None),
}


async def test_a_fail_whose_last_request_failed_is_marked_as_the_providers(
    relay: Server, tmp_path: Path
) -> None:
    bodies = {f"s{n}": asking(*paths.split()) + FAIL for n, paths in enumerate(MARKED)}
    async with running(scenario_pack(tmp_path / "pack", **bodies), base_url=relay.base_url) as pack:
        results = [(await run(pack, name)).result for name in bodies]
    assert [(result.error_type, result.retryable) for result in results] == list(MARKED.values())
    assert [(result.raw.get("errorType"), result.raw.get("retryable")) for result in results] == list(
        MARKED.values()
    )


async def test_a_swallowed_error_is_told_in_the_verifiers_details(relay: Server, tmp_path: Path) -> None:
    blank = (
        "await fetch(`${context.providers[0].baseUrl}/blank/503`).then((one) => one.json()).catch(() => {}); "
    )
    own = """return passed(input, { status: "fail", score: 0, errorType: "execution_error",
        verifier: { status: "odd", summary: "checked", details: { seen: 1 } } });"""
    bodies = {"plain": asking("404") + FAIL, "blank": blank + FAIL, "own": asking("429") + own}
    async with running(scenario_pack(tmp_path / "pack", **bodies), base_url=relay.base_url) as pack:
        told = {name: (await run(pack, name)).result.raw for name in bodies}
    assert told["plain"]["verifier"] == {
        "status": "fail",
        "summary": "The provider answered with HTTP 404.",
        "details": {"providerHttpStatus": 404, "providerResponseBlank": False},
    }
    assert told["blank"]["verifier"]["details"] == {"providerHttpStatus": 503, "providerResponseBlank": True}
    assert told["own"]["errorType"] == "execution_error"
    assert told["own"]["verifier"] == {
        "status": "odd",
        "summary": "checked",
        "details": {"seen": 1, "providerHttpStatus": 429, "providerResponseBlank": False},
    }


async def test_a_pass_after_a_providers_error_stays_what_it_is(relay: Server, tmp_path: Path) -> None:
    directory = scenario_pack(tmp_path / "pack", tries=asking("503") + "return passed(input);")
    async with running(directory, base_url=relay.base_url) as pack:
        cell = await run(pack, "tries")
    assert (cell.result.status, cell.result.error_type, cell.provider_failure) == ("pass", None, None)


async def test_a_provider_that_cannot_be_reached_is_trouble_too(tmp_path: Path) -> None:
    async with running(scenario_pack(tmp_path / "pack", fails=asking("200") + FAIL)) as pack:
        cell = await run(pack, "fails")
    assert cell.provider_failure is not None
    assert (cell.provider_failure.http_status, cell.provider_failure.retryable) == (None, True)
    assert cell.result.error_type == "provider_error"


async def test_other_addresses_are_no_provider(relay: Server, tmp_path: Path) -> None:
    body = f"await fetch('{relay.base_url}/500'); {FAIL}"
    async with running(scenario_pack(tmp_path / "pack", fails=body)) as pack:
        assert (await run(pack, "fails")).result.error_type is None


async def test_http_clients_are_noted_as_well(relay: Server, tmp_path: Path) -> None:
    body = f"""
    const {{ get }} = require("node:http");
    const url = `${{context.providers[0].baseUrl}}/429`;
    await new Promise((resolve) => get(url, (answer) => answer.resume().on("end", resolve)));
    {FAIL}
    """
    async with running(
        scenario_pack(tmp_path / "pack", fails=body), base_url=relay.base_url, relay_url=relay.base_url
    ) as pack:
        assert (await run(pack, "fails", token="t")).result.error_type == "provider_error"


@pytest.mark.parametrize("read", ["text", "json"])
async def test_an_empty_body_where_another_try_is_due_is_a_clear_error(
    read: str, relay: Server, tmp_path: Path
) -> None:
    body = f"await (await fetch(`${{context.providers[0].baseUrl}}/blank/429`)).{read}();"
    async with running(scenario_pack(tmp_path / "pack", blank=body), base_url=relay.base_url) as pack:
        with pytest.raises(
            ProviderError, match="The provider answered with HTTP 429 and an empty body"
        ) as caught:
            await run(pack, "blank")
    assert (caught.value.http_status, caught.value.retryable) == (429, True)


async def test_a_body_that_is_there_is_read_as_ever(relay: Server, tmp_path: Path) -> None:
    body = """
    const response = await fetch(`${context.providers[0].baseUrl}/503`);
    return passed(input, { summary: (await response.json()).said });
    """
    async with running(scenario_pack(tmp_path / "pack", reads=body), base_url=relay.base_url) as pack:
        assert (await run(pack, "reads")).result.summary == "hello"


async def test_what_a_pack_throws_after_its_providers_error_is_the_providers(
    relay: Server, tmp_path: Path
) -> None:
    body = asking("500") + "throw new Error('gave up');"
    async with running(scenario_pack(tmp_path / "pack", throws=body), base_url=relay.base_url) as pack:
        with pytest.raises(ProviderError, match="gave up") as caught:
            await run(pack, "throws")
        assert caught.value.http_status == 500
        assert "cell" not in await failure(pack, "throws")
