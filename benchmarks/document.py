"""`python -m benchmarks.document FILE`: puts the figures of a run into docs/performance.md, and draws them.

FILE is what `python -m benchmarks --json FILE` wrote. What it has is kept beside the document, so that the two can
be compared later; what it lacks, because only a part was measured, stays as it was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.drawing import panels, svg

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
HEADINGS = ["what", "ours", "floor", "compared", "goal"]
BEGIN, END = "<!-- figures: written by `python -m benchmarks.document` -->\n", "<!-- end of figures -->\n"


def table(headings: list[str], rows: list[list[str]]) -> Iterator[str]:
    """The lines of a Markdown table: the first column to the left, the others to the right."""
    yield "| " + " | ".join(headings) + " |"
    yield "|---|" + "---:|" * (len(headings) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def figures(document: dict[str, Any]) -> str:
    """All that stands between the marks."""
    machine = document["machine"]
    measures = {each["name"]: each for each in document["measures"]}
    points = list(_points(document["scale"], measures))
    lines = [
        f"Python {machine['python']} on {machine['system']}, {machine['cpus']} CPUs; medians of {document['rounds']} "
        "rounds" + (", small sizes, so only a first impression." if document["quick"] else "."),
        "",
        *table(HEADINGS, list(map(_goal, measures.values()))),
        "### Runs of growing size",
        "",
        *table(
            ["trials", "CPU, s", "CPU per added trial, ms", "wall, s", "peak memory, MB", "journal, MB"],
            points,
        ),
    ]
    if load := document.get("load"):
        lines += [
            "### Under load",
            "",
            f"Measured on {load['date']}; "
            + ("one round." if load["rounds"] == 1 else f"medians of {load['rounds']} rounds."),
            "",
            *table(HEADINGS, list(map(_goal, load["measures"]))),
        ]
    for streams, heading in ((False, "whole answers"), (True, "16 tokens streamed")):
        peers = [peer for peer in document["peers"] if peer["streams"] == streams]
        if peers:
            lines += [f"### Peers: {heading}", "", *_peers(peers, streams)]
    return "\n".join(lines)


def _goal(measured: dict[str, Any]) -> list[str]:
    floor = measured["floor"]
    compared, of_goal = "", ""
    if floor:
        ratio = f"{measured['ours'] / floor:.2f}×"
        compared = f"{measured['judged']:+.2f}" if measured["compared"] == "difference" else ratio
    if measured["goal"] is not None:
        of_goal = f"{'≥' if measured.get('at_least') else '≤'} {_bound(measured)}{_missed(measured)}"
    return [
        _name(measured),
        _figure(measured["ours"]),
        "" if floor is None else _figure(floor),
        compared,
        of_goal,
    ]


def _name(measured: dict[str, Any]) -> str:
    """The name with the unit, without the part of the program that the heading has."""
    name, unit = measured["name"].strip().removeprefix("Load: "), measured["unit"]
    return name if not unit or (unit == "/s" and unit in name) else f"{name}, {unit}"


def _bound(measured: dict[str, Any]) -> str:
    """The goal, with a sign if it bounds a difference, and with × if it bounds a ratio."""
    goal: float = measured["goal"]
    return {"ratio": f"{goal:,g}×", "difference": f"{goal:+,g}", "value": f"{goal:,g}"}[measured["compared"]]


def _missed(measured: dict[str, Any]) -> str:
    return ", **missed**" if measured["met"] is False else ""


def _figure(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _points(points: list[dict[str, Any]], measures: dict[str, dict[str, Any]]) -> Iterator[list[str]]:
    """The rows of runs of growing size. Removes from `measures` the figures that these rows have."""
    added = [""]
    for small, large in pairwise(points):
        measures.pop(f"CPU of a trial, {small['trials']:,} to {large['trials']:,}", None)
        added.append(f"{(large['cpu'] - small['cpu']) / (large['trials'] - small['trials']) * 1e3:.3f}")
    for point, each in zip(points, added, strict=True):
        memory = measures.pop(f"Peak memory, {point['trials']:,} trials", None)
        bound = "" if memory is None else f" (≤ {_bound(memory)}{_missed(memory)})"
        yield [
            f"{point['trials']:,}",
            f"{point['cpu']:.1f}",
            each,
            f"{point['wall']:.1f}",
            f"{point['memory']:.0f}{bound}",
            f"{point['journal']:,.1f}",
        ]


def _peers(peers: list[dict[str, Any]], streams: bool) -> Iterator[str]:
    headings = [
        "program",
        "CPU to start and end, s",
        "CPU per request, ms",
        "CPU per request / Benchwright's",
        "wall, s",
    ]
    headings += ["peak memory, MB", "installed, MB"]
    headings += ["TTFT p50/p99 reported, ms", "true TTFT, ms"] if streams else []
    ours = next((peer["marginal"] for peer in peers if peer["name"] == "Benchwright"), 0.0)
    rows = []
    for peer in peers:
        if peer["missing"]:
            continue
        row = [
            peer["name"],
            f"{peer['fixed']:.2f}",
            f"{peer['marginal'] * 1e3:.3g}",
            f"{peer['marginal'] / ours:.2g}×" if ours else "",
            f"{peer['wall']:.1f}",
            f"{peer['memory']:.0f}",
            f"{peer['installed']:.0f}" if peer["installed"] else "",
        ]
        times = [
            f"{ttft['p50']:.1f}/{ttft['p99']:.1f}" if ttft else "" for ttft in (peer["said"], peer["true"])
        ]
        rows.append(row + (times if streams else []))
    yield from table(headings, rows)
    for peer in peers:
        if peer["missing"]:
            yield f"{peer['name']} was not run: {peer['missing']}"
            yield ""


def put_in(text: str, between: str) -> str:
    """The document with other figures between its marks.

    Raises:
        ValueError: the marks are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{BEGIN}\n{between}{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.document", description=__doc__)
    parser.add_argument("file", type=Path)
    kept = DOCUMENT.with_suffix(".json")
    document = {**json.loads(kept.read_text()), **json.loads(parser.parse_args().file.read_text())}
    DOCUMENT.write_text(put_in(DOCUMENT.read_text(), figures(document)))
    DOCUMENT.with_suffix(".svg").write_text(svg(panels(document)))
    kept.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
