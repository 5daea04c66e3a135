"""Interfaces to watch a pack while it runs, and to its running verifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from benchwright.packs.types import VerifierEndpoint
from benchwright.records import RequestRecord


class Watcher(Protocol):
    """Receiver of a running pack's progress. Its methods are plain functions that return at once."""

    def prepared(self) -> None:
        """Handle that the pack is prepared and cells follow."""
        ...

    def began(self, slot: str, scenario: str, repeat: int) -> None:
        """Handle the start of an attempt at a cell."""
        ...

    def progress(self, slot: str, scenario: str, event: Mapping[str, Any]) -> None:
        """Handle a progress event that the pack sent for a cell."""
        ...

    def log(self, level: str, message: str, meta: Any) -> None:
        """Handle a line for the host's log: one by the pack, or one about the pack."""
        ...

    def request(self, record: RequestRecord) -> None:
        """Handle a request through the relay that belongs to no cell."""
        ...


class RunningVerifiers(Protocol):
    """The running verifiers of a run."""

    @property
    def endpoints(self) -> Sequence[VerifierEndpoint]:
        """The verifiers as the pack receives them."""
        ...

    @property
    def gateway(self) -> str | None:
        """The address at which containers reach this machine. None if no verifier is a container."""
        ...

    async def check(self) -> None:
        """Check from time to time that the verifiers still respond.

        Raises:
            ExecutionError: If a required verifier does not respond.
        """
        ...

    async def recheck(self) -> list[str]:
        """Check the required verifiers now, and return one line per problem."""
        ...


class NoVerifiers:
    """The verifiers of a pack that needs none."""

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
