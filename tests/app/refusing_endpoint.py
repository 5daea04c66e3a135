"""`benchwright simulate` with one option more: `--most N` answers 429 to what comes while N answers are under way.

python tests/app/refusing_endpoint.py --most 8 --port 0 --port-file FILE --first-token 50
"""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import patch

from benchwright.cli.simulate import command
from benchwright.endpoint.serving.http import HttpError
from benchwright.endpoint.simulate import generation, shared_counters

MOST = "--most"


def refuse_beyond(most: int) -> None:
    """Has the simulated model refuse what is one too many."""
    respond = generation.SimulatedModel.prepare_answer

    def respond_or_refuse(self: Any, *arguments: Any) -> Any:
        if self._counters.cells[shared_counters.RUNNING] >= most:
            raise HttpError(429, "Too many at once.", "rate_limit_error", code="rate_limit_exceeded")
        return respond(self, *arguments)

    patch.object(generation.SimulatedModel, "prepare_answer", respond_or_refuse).start()


if __name__ == "__main__":
    place = sys.argv.index(MOST)
    refuse_beyond(int(sys.argv[place + 1]))
    command([*sys.argv[1:place], *sys.argv[place + 2 :]])
