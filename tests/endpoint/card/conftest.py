"""What the tests of the card share: an examination of a server that behaves as they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.endpoint.card.played_server import Behaviour, PlayedServer, played

from benchwright.endpoint.card import Card, Examination, Prober, make_card, run_probes
from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target


class Examined:
    """A server that was examined, and its card."""

    def __init__(self, server: PlayedServer, card: Card) -> None:
        self.server = server
        self.card = card

    def outcome(self, key: str) -> str:
        """What came of a line."""
        return self.card.findings[key].outcome


async def examined(
    seconds: float = 5.0, settings: Mapping[str, Any] | None = None, **behaviour: Any
) -> Examined:
    """Examines a server that behaves well, but for what is said."""
    async with played(Behaviour(**behaviour)) as server:
        target = Target("primary", "m", server.base_url, dict(settings or {}))
        async with EndpointClient(target) as client:
            known = Examination(Prober(client, seconds=seconds))
            await run_probes(known)
        return Examined(server, make_card(known))


@pytest.fixture(name="examined")
def examined_fixture() -> Any:
    return examined
