"""Calibration of prompt lengths: measures the server's tokens per word by its own token counts."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.endpoint.providers import ModelClient
from benchwright.records import Record

TOKENS_PER_WORD = 1.0
"""Tokens per word that are assumed if the server does not report usage."""


class Calibration(Record, frozen=True):
    """Conversion between words and the server's tokens: `fixed` tokens per prompt, and `per_word` tokens per word.

    `measured`: True if the server was asked, False if it reports no usage, None if it was not asked yet. Without a
    measurement, `per_word` is `TOKENS_PER_WORD`.
    """

    per_word: float = TOKENS_PER_WORD
    fixed: float = 0.0
    measured: bool | None = None

    def words_for_tokens(self, tokens: int) -> int:
        """Return the number of words for a prompt of this many tokens, at least one."""
        return max(1, round((tokens - self.fixed) / self.per_word))

    def describe_length(self, tokens: int) -> str:
        """Return a description, for messages, of the length of prompts that are to have this many tokens."""
        if self.measured is None:
            return f"about {tokens:,} tokens (to be calibrated)"
        if not self.measured:
            return f"about {tokens:,} tokens (not calibrated: the server does not count them)"
        real = self.fixed + self.per_word * self.words_for_tokens(tokens)
        return f"about {real:,.0f} tokens (calibrated by the server's count)"


SHORT, LONG = 64, 512
"""`SHORT`, `LONG`: numbers of words in the short and in the long calibration prompt."""


async def calibrate(client: ModelClient, text: Callable[[int, str], str]) -> Calibration:
    """Ask the server for the token counts of a short and a long prompt, and fit a line through both.

    `text`: returns a given number of words for a seed.

    Raises:
        ProviderError: If the endpoint does not respond.
    """
    counted = []
    for words in (SHORT, LONG):
        messages = [{"role": "user", "content": text(words, f"calibration:{words}")}]
        reply = await client.ask("/chat/completions", {"messages": messages, "max_tokens": 1})
        counted.append(reply.usage.prompt_tokens)
    short, long = counted
    if short is None or long is None or long <= short:
        return Calibration(measured=False)
    per_word = (long - short) / (LONG - SHORT)
    return Calibration(per_word, short - per_word * SHORT, measured=True)
