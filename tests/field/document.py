"""`python -m tests.field.document FILE`: puts the results of a run into docs/servers.md.

FILE is what `python -m tests.field` wrote, by default build/field.json. It is kept beside the document as
docs/servers.json, with the servers of earlier runs that it lacks: each server names the date of its own run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.environments import ROOT
from tests.field.results import FAILS, WORDS, reasons
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
    """Yield the lines between the marks: a table of servers by features, and what is missing."""
    servers, machine = document["servers"], document["machine"]
    yield f"With {document['model']}, on {machine['cpus']} CPUs of {machine['processor']}, without a GPU."
    yield ""
    yield "| feature | " + " | ".join(f"`{name}`" for name in servers) + " |"
    yield "|---|" + "---|" * len(servers)
    for feature, words in FEATURES.items():
        cells = [server["features"].get(feature) for server in servers.values()]
        yield f"| {words} | " + " | ".join(cell_of(cell) for cell in cells) + " |"
    yield ""
    yield "| server | version | run on | seconds | not tried, and why |"
    yield "|---|---|---|---:|---|"
    for name, server in servers.items():
        why = "; ".join(f"{', '.join(features)}: {reason}" for reason, features in reasons(server).items())
        yield f"| `{name}`: {server['title']} | {server['version']} | {server['date']} | {server['seconds']} | {why} |"
    yield ""


def cell_of(entry: dict[str, Any] | None) -> str:
    """Return a cell of the table; a failure is bold."""
    if entry is None:
        return ""
    return "**fails**" if entry["result"] == FAILS else WORDS[entry["result"]]


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
