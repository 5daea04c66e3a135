"""What agents' requests were sent with, in words."""

from __future__ import annotations

from benchwright.analysis.request_lines import request_lines
from benchwright.analysis.request_summary import RequestSummary, request_summary
from benchwright.analysis.sent_settings import sent_settings, unequal_sampling_sentences
from benchwright.records import RequestRecord
from benchwright.runs.request_figures import RequestFigures
from benchwright.runs.sessions import Sessions


def summary_of(*settings: dict[str, int | float | str] | None) -> RequestSummary:
    figures = RequestFigures()
    for place, one in enumerate(settings):
        figures.add_request(RequestRecord(f"r{place}", settings=one))
    return request_summary(figures, Sessions())


def test_are_told_with_their_values() -> None:
    summary = summary_of({"temperature": 0, "max_tokens": 777}, {"temperature": 0, "max_tokens": 777})
    assert "Settings that were sent: max_tokens 777, temperature 0." in request_lines(summary)


def test_are_told_with_how_many_requests_if_they_differ() -> None:
    summary = summary_of({"temperature": 1}, {"temperature": 1}, {})
    assert sent_settings(summary) == {"temperature": "1 (2 of 3 requests), not sent (1 of 3 requests)"}


def test_may_be_none() -> None:
    assert "Settings that were sent: none." in request_lines(summary_of({}))


def test_say_nothing_of_requests_that_no_program_made() -> None:
    assert not any("sent" in line for line in request_lines(summary_of(None)))


def test_that_differ_between_agents_are_told() -> None:
    agents = [("codex", summary_of({})), ("gemini-cli", summary_of({"temperature": 1}))]
    (note,) = unequal_sampling_sentences(agents)
    assert note.startswith("temperature was not the same for all (codex: not sent; gemini-cli: 1)")


def test_that_are_the_same_are_not_told() -> None:
    agents = [(name, summary_of({"temperature": 0})) for name in ("codex", "gemini-cli")]
    assert list(unequal_sampling_sentences(agents)) == []
