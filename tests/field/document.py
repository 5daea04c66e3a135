"""`python -m tests.field.document FILE`: puts the results of a run into docs/servers.md.

FILE is what `python -m tests.field` wrote, by default build/field.json. It is kept beside the document as
docs/servers.json, with the servers of earlier runs that it lacks: each server names the date of its own run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.environments import ROOT
from tests.field.results import FAILS, WORKS, reasons
from tests.field.servers import SERVERS
from tests.field.servers.server import FEATURES

DOCUMENT = ROOT / "docs" / "servers.md"
KEPT = ROOT / "docs" / "servers.json"
BEGIN, END = "<!-- results: written by `python -m tests.field.document` -->\n", "<!-- end of results -->\n"


def merge(kept: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Return the results of all servers: those of this run, and of earlier runs for servers that it did not try."""
    ran = {name: {**server, "date": run["date"]} for name, server in run["servers"].items()}
    servers = {**kept.get("servers", {}), **ran}
    return {
        "model": run["model"],
        "machine": run["machine"],
        "servers": {name: servers[name] for name in SERVERS if name in servers},
    }


def lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines between the marks: the servers, the features that work on them, and what was not tried."""
    servers, machine = document["servers"], document["machine"]
    yield f"The model is {document['model']}; the machine has {machine['cpus']} {machine['processor']} CPUs and no GPU."
    yield ""
    yield "| server | version | date of the tests | seconds for all tests |"
    yield "|---|---|---|---:|"
    for name, server in servers.items():
        yield f"| `{name}`: {server['title']} | {server['version']} | {server['date']} | {server['seconds']} |"
    yield ""
    yield "| feature | works on |"
    yield "|---|---|"
    for feature, words in FEATURES.items():
        yield f"| {words} | {_servers_of(feature, servers)} |"
    yield ""
    yield from (f"- {what}. Reason: {why}." for why, what in _exceptions(servers))
    yield ""


def _servers_of(feature: str, servers: Mapping[str, dict[str, Any]]) -> str:
    """Return the servers on which a feature works; those on which it fails follow in bold."""
    results = {name: server["features"].get(feature, {}).get("result") for name, server in servers.items()}
    works, fails = ([name for name, found in results.items() if found == result] for result in (WORKS, FAILS))
    cell = "all" if len(works) == len(servers) else _quoted(works) or "none"
    return f"{cell}; **fails on {_quoted(fails)}**" if fails else cell


def _exceptions(servers: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each reason for a result other than "works", with its features and servers."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for name, server in servers.items():
        for why, features in reasons(server).items():
            result = "Fails" if server["features"][features[0]]["result"] == FAILS else "Not tried"
            found.setdefault((why, result, tuple(features)), []).append(name)
    for (why, result, kept), names in found.items():
        yield why, f"{result} on {_quoted(names)}: {', '.join(FEATURES[feature] for feature in kept)}"


def _quoted(names: Sequence[str]) -> str:
    """Return names in backticks, with commas between them."""
    return ", ".join(f"`{name}`" for name in names)


def written(text: str, document: dict[str, Any]) -> str:
    """Return the text of the page with these results between its marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n".join(lines(document)) + "\n" + END + after


def main(file: Path) -> None:
    """Write the page, and the results beside it."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    document = merge(kept, json.loads(file.read_text(encoding="utf-8")))
    KEPT.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8"), document), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "field.json")
