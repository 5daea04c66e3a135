"""docs/performance.md: its figures are those of the file beside it, put there by the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks import document as documenting
from benchmarks.document import BEGIN, DOCUMENT, END, figures, put_in
from benchmarks.drawing import panels, svg
from benchmarks.measured import Measured

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


def rate_of(reached: float) -> dict[str, Any]:
    """A goal of 20,000 requests per second, as it is in the file of figures."""
    rate = Measured("requests/s", "/s", reached, goal=20_000, at_least=True)
    return {**rate._asdict(), "judged": rate.judged, "met": rate.met}


def test_a_goal_that_is_to_be_reached_is_shown_as_such(measured: dict[str, Any]) -> None:
    load = {"date": "2026-11-23", "rounds": 3, "measures": [rate_of(5_000)]}
    assert "| requests/s | 5,000 |  |  | ≥ 20,000, **missed** |" in figures({**measured, "load": load})


@pytest.mark.parametrize(("reached", "share"), [(40_000, "50%"), (10_000, "200%")])
def test_of_a_goal_that_is_to_be_reached_less_is_used_the_more_is_reached(
    measured: dict[str, Any], reached: float, share: str
) -> None:
    (panel, *_) = panels({**measured, "measures": [rate_of(reached)], "load": {"measures": []}})
    assert [bar.text for bar in panel.bars] == [share]


def test_what_was_not_measured_again_stays_in_the_document(
    measured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, again = tmp_path / "performance.md", tmp_path / "again.json"
    copy.write_text(DOCUMENT.read_text())
    copy.with_suffix(".json").write_text(json.dumps(measured))
    load = {"date": "2026-11-30", "rounds": 3, "measures": [rate_of(30_000)]}
    again.write_text(json.dumps({"load": load}))
    monkeypatch.setattr(documenting, "DOCUMENT", copy)
    monkeypatch.setattr("sys.argv", ["document", str(again)])
    documenting.main()
    assert json.loads(copy.with_suffix(".json").read_text()) == {**measured, "load": load}
    assert "Measured on 2026-11-30" in copy.read_text()


def test_only_what_is_between_the_marks_is_replaced() -> None:
    assert put_in(f"before\n{BEGIN}old\n{END}after\n", "new\n") == f"before\n{BEGIN}\nnew\n{END}after\n"


def test_a_document_without_marks_is_left_alone() -> None:
    with pytest.raises(ValueError, match="no lines"):
        put_in("no marks", "new\n")


def test_it_names_no_machine(measured: dict[str, Any]) -> None:
    assert set(measured["machine"]) == {"python", "cpus", "system"}
    assert str(Path.home()) not in DOCUMENT.with_suffix(".json").read_text()
