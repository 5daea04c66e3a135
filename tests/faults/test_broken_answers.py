"""Answers that break anywhere, in any way: the whole answer or one refusal, and soon."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.http_kit import HELLO, STREAMED_HELLO, ask
from tests.endpoint.scripted_server import ASKED, CLOSE, RESET, Script, ScriptedServer
from tests.faults.hostile_server import FLOODS, STREAMED, TRAILERS, chunk
from tests.faults.how_often import tried

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.timeouts import Timeouts
from benchwright.errors import ProviderError
from benchwright.records import Target

PATIENCE = Timeouts(read_seconds=0.2, stall_seconds=0.2, total_seconds=2.0, max_bytes=1_000_000)
AGAIN = 30

BREAKS: dict[str, Script] = {
    "close": [CLOSE],
    "reset": [RESET],
    "silence": [],
    "another answer": [HELLO],
    "trailers": [TRAILERS, 0.01] * AGAIN,
    "flood": [FLOODS["content"] * 10] * AGAIN,
    "chunks of nothing": [chunk(b" ")] * AGAIN,
    **{name: [piece, 0.01] * AGAIN for name, piece in STREAMED.items() if piece},
}
"""What comes instead of the rest of an answer."""


class Broken(NamedTuple):
    """An answer that is whole up to this part of it; then come rubbish and what the way of breaking says."""

    stream: bool
    place: float
    rubbish: bytes
    way: str

    @property
    def script(self) -> Script:
        whole = STREAMED_HELLO if self.stream else HELLO
        return [ASKED, whole[: int(len(whole) * self.place)] + self.rubbish, *BREAKS[self.way]]


@tried(20, of="way")
@given(
    way=st.sampled_from(sorted(BREAKS)),
    stream=st.booleans(),
    place=st.floats(0, 1),
    rubbish=st.just(b"") | st.binary(max_size=8),
)
def test_is_an_answer_or_one_refusal(way: str, stream: bool, place: float, rubbish: bytes) -> None:
    started = perf_counter()
    said = asyncio.run(_said(Broken(stream, place, rubbish, way)))
    assert said is None or place == 1 or rubbish or said.startswith("Hel")
    assert perf_counter() - started < 10


async def _said(broken: Broken) -> str | None:
    """What the client takes for the answer; None where it refuses."""
    async with (
        ScriptedServer(broken.script) as server,
        EndpointClient(
            Target("primary", "m", f"{server.url}/v1"),
            stream=broken.stream,
            limits=PATIENCE,
            retry=RetryPolicy(retries=0),
        ) as client,
    ):
        try:
            return (await ask(client)).text
        except ProviderError:
            return None
