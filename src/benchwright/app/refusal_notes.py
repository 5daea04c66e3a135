"""Reports each optional request field that a server refused, once per field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchwright.endpoint.flags import left_out_names
from benchwright.endpoint.optional_parts import omission_phrase
from benchwright.engine.run import RunListener
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.text import make_safe


class RefusalNotes:
    """Listener that finds refused fields in the records of requests, and reports them to the user.

    `models`: the models' names by slot. `others`: the listeners that display messages.
    """

    def __init__(self, models: Mapping[str, str], others: Sequence[RunListener]) -> None:
        self._models = models
        self._others = others
        self._told: set[tuple[str, str]] = set()

    def on_start(self, total: int, done: int, again: int) -> None:
        """Do nothing: only results matter."""

    def on_result(self, result: WorkResult) -> None:
        """Report each field that was left out of this result's requests because the server refused it.

        A field is reported only once for each model.
        """
        for request in result.record.requests if isinstance(result, SolvedWork) else ():
            for name in left_out_names(request.flags) if request.flags else ():
                if (request.slot, name) not in self._told:
                    self._told.add((request.slot, name))
                    self._tell(request.slot, name)

    def _tell(self, slot: str, name: str) -> None:
        model = make_safe(self._models.get(slot, slot))
        for other in self._others:
            other.on_message(
                f"The server of {model} refuses {name}: requests are sent {omission_phrase(name)}."
            )

    def on_message(self, text: str) -> None:
        """Do nothing: only results matter."""

    def on_end(self) -> None:
        """Do nothing: only results matter."""
