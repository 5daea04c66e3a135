"""docs/performance.md: its figures are those of the file beside it, put there by the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks.document import BEGIN, DOCUMENT, END, figures, put_in
from benchmarks.drawing import panels, svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DOCUMENT.with_suffix(".json").read_text())
    return document


def test_the_tables_are_what_the_command_makes_of_the_figures(measured: dict[str, Any]) -> None:
    text = DOCUMENT.read_text()
    assert put_in(text, figures(measured)) == text


def test_the_plot_is_what_the_command_draws_of_them(measured: dict[str, Any]) -> None:
    assert DOCUMENT.with_suffix(".svg").read_text() == svg(panels(measured))


def test_the_plot_says_in_words_what_it_shows(measured: dict[str, Any]) -> None:
    drawing = ElementTree.fromstring(svg(panels(measured)))
    described = drawing.findtext(f"{SVG}desc")
    assert described is not None
    for panel in panels(measured):
        for bar in panel.bars:
            assert f"{bar.label} {bar.text}" in described


def test_a_label_cannot_break_the_plot(measured: dict[str, Any]) -> None:
    goal = next(each for each in measured["measures"] if each["goal"] and each["judged"] > 0)
    odd = {**measured, "measures": [{**goal, "name": "<b> & more"}]}
    texts = [element.text for element in ElementTree.fromstring(svg(panels(odd))).iter(f"{SVG}text")]
    assert "<b> & more" in texts


def test_a_peer_that_was_not_run_is_told_and_not_left_out(measured: dict[str, Any]) -> None:
    absent = {"name": "Other 1.0", "streams": False, "missing": "it cannot be installed: no such version"}
    assert "Other 1.0 was not run: it cannot be installed: no such version" in figures(
        {**measured, "peers": [absent]}
    )
    assert not [
        panel for panel in panels({**measured, "peers": [absent]}) if "CPU per request" in panel.heading
    ]


def test_only_what_is_between_the_marks_is_replaced() -> None:
    assert put_in(f"before\n{BEGIN}old\n{END}after\n", "new\n") == f"before\n{BEGIN}\nnew\n{END}after\n"


def test_a_document_without_marks_is_left_alone() -> None:
    with pytest.raises(ValueError, match="no lines"):
        put_in("no marks", "new\n")


def test_it_names_no_machine(measured: dict[str, Any]) -> None:
    assert set(measured["machine"]) == {"python", "cpus", "system"}
    assert str(Path.home()) not in DOCUMENT.with_suffix(".json").read_text()
