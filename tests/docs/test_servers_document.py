"""docs/servers.md shows the results that are kept beside it, and no others."""

from __future__ import annotations

import json

from tests.field.document import DOCUMENT, KEPT, merge, written
from tests.field.servers import SERVERS
from tests.field.servers.server import FEATURES


def test_the_page_shows_the_results_beside_it() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert written(text, json.loads(KEPT.read_text(encoding="utf-8"))) == text


def test_a_server_that_a_run_did_not_try_keeps_its_own_results_and_date() -> None:
    machine = {"cpus": 2, "processor": "x86_64"}
    earlier = {
        "model": "m",
        "machine": machine,
        "date": "2026-01-01",
        "servers": {"litellm": {"features": {}}},
    }
    later = {"model": "m", "machine": machine, "date": "2026-02-02", "servers": {"portkey": {"features": {}}}}
    servers = merge(merge({}, earlier), later)["servers"]
    assert {name: server["date"] for name, server in servers.items()} == {
        "litellm": "2026-01-01",
        "portkey": "2026-02-02",
    }


def test_every_reason_names_a_feature_that_exists() -> None:
    for server in SERVERS.values():
        assert server.without.keys() <= FEATURES.keys()
