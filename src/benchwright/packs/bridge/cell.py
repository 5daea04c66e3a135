"""What comes of one cell: a scenario that one model did."""

from __future__ import annotations

from benchwright.packs.types import ScenarioResult
from benchwright.records import Record


class ProviderTrouble(Record, frozen=True):
    """How the cell's last request to its model's provider failed; `http_status` is None where no answer came.

    `blank`: the answer had no body, and the pack tried to read it.
    """

    message: str
    http_status: int | None = None
    retryable: bool = False
    blank: bool = False


class CellResult(Record, frozen=True):
    """The result as the pack gave it, and its provider's trouble, if the last request to it had any.

    A result that came back "fail" after such trouble has `errorType`, `retryable` and the verifier's details
    `providerHttpStatus` and `providerResponseBlank` filled in, and one without timings has the bridge's own: these are
    the only changes to `result.raw`.
    """

    result: ScenarioResult
    provider: ProviderTrouble | None = None
