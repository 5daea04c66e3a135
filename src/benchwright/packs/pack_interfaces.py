"""Interfaces between a running pack and the host: a receiver of progress, and the running verifiers.

A cell is one scenario with one model. `slot` is the id of the model in the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from benchwright.packs.types import VerifierEndpoint
from benchwright.records import RequestRecord


class PackWatcher(Protocol):
    """Receives the progress of a running pack. The methods are plain functions that return at once."""

    def on_prepared(self) -> None:
        """Receive that the pack is prepared. Its cells follow."""
        ...

    def on_cell_start(self, slot: str, scenario: str, repeat: int) -> None:
        """Receive that an attempt at a cell begins."""
        ...

    def on_cell_progress(self, slot: str, scenario: str, event: Mapping[str, Any]) -> None:
        """Receive a progress event that the pack sent for a cell."""
        ...

    def log(self, level: str, message: str, meta: Any) -> None:
        """Receive a line for the host's log. The pack wrote the line, or the line is about the pack."""
        ...

    def on_request(self, record: RequestRecord) -> None:
        """Receive the record of a relayed request that the pack sent outside any cell."""
        ...


class RunningVerifiers(Protocol):
    """The verifiers (programs that check answers) of a running pack."""

    @property
    def endpoints(self) -> Sequence[VerifierEndpoint]:
        """The states and addresses of the verifiers, in the form in which the pack receives them."""
        ...

    @property
    def gateway(self) -> str | None:
        """The address at which containers reach this machine; None if no verifier is a container."""
        ...

    async def check(self) -> None:
        """Check that the required verifiers still respond. Do nothing if they were checked a short time ago.

        Raises:
            ExecutionError: If a required verifier does not respond.
        """
        ...

    async def recheck(self) -> list[str]:
        """Check the required verifiers now, and return one line per problem."""
        ...


class NoVerifiers:
    """The `RunningVerifiers` of a pack that needs no verifiers."""

    endpoints: Sequence[VerifierEndpoint] = ()
    gateway: str | None = None

    async def __aenter__(self) -> NoVerifiers:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Do nothing, because nothing was started."""

    async def check(self) -> None:
        """Do nothing, because there is no verifier."""

    async def recheck(self) -> list[str]:
        """Return no problems, because there is no verifier."""
        return []
