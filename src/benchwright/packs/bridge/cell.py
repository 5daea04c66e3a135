"""The result of one cell, which is one scenario run by one model."""

from __future__ import annotations

from benchwright.packs.types import ScenarioResult
from benchwright.records import Record


class ProviderFailure(Record, frozen=True):
    """The failure of a cell's last request to its model's provider.

    `http_status` is None if no response arrived. `blank`: the pack tried to read the response's body, and it
    was empty.
    """

    message: str
    http_status: int | None = None
    retryable: bool = False
    blank: bool = False


class CellResult(Record, frozen=True):
    """The result of a cell as returned by the pack, and the failure of its last provider request, if any.

    The bridge changes `result.raw` in two cases only. A "fail" after a provider failure gets `errorType`,
    `retryable` and, among the verifier's details, `providerHttpStatus` and `providerResponseBlank`. A result
    without timings gets the timings measured by the bridge.
    """

    result: ScenarioResult
    provider: ProviderFailure | None = None
