"""The result of one cell, which is one scenario run by one model."""

from __future__ import annotations

from benchwright.packs.types import ScenarioResult
from benchwright.records import Record


class ProviderFailure(Record, frozen=True):
    """The failure of a cell's last request to its model's provider.

    `http_status`: None if no response arrived. `has_empty_body`: True if the pack tried to read the response's body,
    and the body was empty.
    """

    message: str
    http_status: int | None = None
    retryable: bool = False
    has_empty_body: bool = False


class CellResult(Record, frozen=True):
    """The result of a cell as the pack returned it, and the failure of the cell's last provider request, if it failed.

    The bridge changes `result.raw` in two cases only. If the status is "fail" and the last provider request
    failed, it adds `errorType`, `retryable` and, among the verifier's details, `providerHttpStatus` and
    `providerResponseBlank`. If the result has no timings, it adds the timings that the bridge measured.
    """

    result: ScenarioResult
    provider_failure: ProviderFailure | None = None
