"""Remarks in words on the requests of one target. A reader of the figures has to know them."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.sent_settings import sent_settings_line
from benchwright.endpoint.flags import FLAG_NOTES
from benchwright.endpoint.optional_parts import omission_phrase
from benchwright.formats import count_with_noun, format_duration
from benchwright.runs.process_delays import Standstill
from benchwright.runs.serial_server import serial_serving_text
from benchwright.runs.standstills import standstill_text


def request_lines(requests: RequestSummary) -> list[str]:
    """Return remarks on side requests, missing token counts, translations, odd responses and timings."""
    lines = []
    if requests.side_requests:
        lines.append(
            f"With side requests: {requests.all_prompt_tokens:,} prompt and "
            f"{count_with_noun(requests.all_completion_tokens, 'completion token')}, of which "
            f"{count_with_noun(requests.side_requests, 'side request')} (titles, summaries) "
            f"{requests.side_prompt_tokens:,} and {requests.side_completion_tokens:,}."
        )
    if requests.uncounted_requests:
        lines.append(
            f"{count_with_noun(requests.uncounted_requests, 'request')} came without a count of tokens."
        )
    lines += sent_settings_line(requests)
    if requests.translated_requests:
        lines.append(
            f"{count_with_noun(requests.translated_requests, 'request')} translated into chat "
            "completions for the server."
        )
    if requests.undecided_requests:
        lines.append(
            f"{count_with_noun(requests.undecided_requests, 'request')} of these only because the "
            "server failed when it was "
            "asked whether it speaks the agent's dialect: run again when it is well."
        )
    for name, count in requests.requests_without.items():
        lines.append(
            f"{count_with_noun(count, 'request')} sent {omission_phrase(name)}, which the server refuses."
        )
    lines += [
        _note_line(kind, count) for kind, count in requests.noted_requests.items() if kind in FLAG_NOTES
    ]
    if requests.one_at_a_time is not None:
        lines.append(f"{serial_serving_text(requests.one_at_a_time)}.")
    if requests.resent_requests:
        lines.append(
            f"{count_with_noun(requests.resent_requests, 'request')} sent again because the server had closed an idle "
            f"connection: at most {format_duration(requests.longest_lost_seconds)} lost, in no time above."
        )
    if requests.answers_at_once:
        lines.append(
            f"{count_with_noun(requests.answers_at_once, 'answer')} came in one piece: the time to "
            "the first token is that of "
            "the whole answer, and how fast tokens came is not known."
        )
    lines += _settling_lines(requests.settling_requests, requests.total_requests)
    return [*lines, *_standstill_lines(requests.stood_still_requests, requests.standstills)]


def _standstill_lines(left_out: int, standstills: Sequence[Standstill]) -> list[str]:
    """Return a line on standstills of our process.

    The line also states the number of requests that have no timings because of the standstills.
    """
    if not left_out and not standstills:
        return []
    when = f" {standstill_text(standstills)}" if standstills else ""
    of_requests = (
        f"Timings leave out {count_with_noun(left_out, 'request')} that met it"
        if left_out
        else "No request met it"
    )
    return [f"This client stood still{when}. {of_requests}."]


def _note_line(kind: str, count: int) -> str:
    """Return a line on the number of requests with odd responses of this kind, and on what the user can do
    about it.
    """
    note = FLAG_NOTES[kind]
    advice = f": {note.advice}" if note.advice else ""
    return f"In {count_with_noun(count, 'request')} {note.description}{advice}."


def _settling_lines(left_out: int, requests: int) -> list[str]:
    """Return a line on requests without timings because the concurrency was settling. Empty if there are none."""
    if not left_out:
        return []
    if left_out == requests:
        return ["No request counts in timings: the concurrency had not settled yet."]
    return [f"Timings leave out {count_with_noun(left_out, 'request')} made while the concurrency settled."]
