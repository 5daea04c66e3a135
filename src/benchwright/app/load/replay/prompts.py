"""Makes prompts from the block ids of a trace: two prompts share a prefix exactly as far as their ids agree.

A block is a fixed number of tokens. Its words depend only on the run's seed, the scope and the id (see
`synthetic.words`).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator

from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.words import WORD_LENGTH_WITH_BLANK, make_words
from benchwright.data.traces.records import TracedRequest

VERSION = "1"
"""Version of the generator. Increase it if the same seed would give other prompts."""

BLOCK_END = b" then"
"""Last word of every block, which marks its end."""

MAX_CACHED_BYTES = 32 * 2**20
"""Maximum bytes of block text that are cached for further prompts."""

BLOCKS_PER_SLICE = 16
"""Number of blocks made before yielding to the event loop (about 0.1 ms)."""


class BlockPrompts:
    """Generator of the prompts for a trace. `salt`: seed that makes the prompts differ from those of other runs."""

    def __init__(self, salt: str, calibration: Calibration) -> None:
        self._salt = salt
        self._calibration = calibration
        self._blocks: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._bytes = 0

    async def make_prompt(self, request: TracedRequest, name: str) -> bytes:
        """Return the prompt of a request, in ASCII letters and blanks.

        The event loop can run other tasks while a long prompt is made. `name`: identifies the request; it
        determines the words at the prompt's end that no other prompt has.
        """
        parts = list[bytes]()
        for number, part in enumerate(self._parts(request, name)):
            parts.append(part)
            if number % BLOCKS_PER_SLICE == BLOCKS_PER_SLICE - 1:
                await asyncio.sleep(0)
        return b"".join(parts)

    def count_words(self, request: TracedRequest) -> int:
        """Return the number of words in the prompt of a request."""
        full, tail = self._lengths(request)
        return full * self._block_words(request) + tail

    def _parts(self, request: TracedRequest, name: str) -> Iterator[bytes]:
        full, tail = self._lengths(request)
        size = self._block_words(request)
        for block in request.blocks[:full]:
            yield self._block(request.scope, block, size)
        if full < len(request.blocks):
            yield self._block(request.scope, request.blocks[full], size)[: tail * WORD_LENGTH_WITH_BLANK]
        else:
            yield make_words(f"{self._salt}\0{name}", tail)

    def _lengths(self, request: TracedRequest) -> tuple[int, int]:
        """Return (number of full blocks, number of words after them) for the prompt of a request.

        Tokens that the server itself adds to each prompt are subtracted from the prompt's length.
        """
        assert request.input_tokens is not None
        size = self._block_words(request)
        full = request.input_tokens // request.block_size if request.blocks else 0
        tail = self._calibration.words_for_tokens(request.input_tokens) - full * size
        return full, max(0 if full else 1, tail)

    def _block_words(self, request: TracedRequest) -> int:
        return max(1, round(request.block_size / self._calibration.per_word))

    def _block(self, scope: str, block: int, size: int) -> bytes:
        key = scope, block, size
        text = self._blocks.get(key)
        if text is None:
            text = make_words(f"{self._salt}\0{scope}\0{block}", size)[:-WORD_LENGTH_WITH_BLANK] + BLOCK_END
            self._blocks[key] = text
            self._bytes += len(text)
            while self._bytes > MAX_CACHED_BYTES:
                self._bytes -= len(self._blocks.popitem(last=False)[1])
        else:
            self._blocks.move_to_end(key)
        return text
