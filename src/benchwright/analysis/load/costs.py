"""Cost of a level, from its rates and a price."""

from __future__ import annotations

from benchwright.analysis.load.figure_records import LevelCost
from benchwright.analysis.load.records import LevelResult, ServerPrice
from benchwright.statistic import is_number

SECONDS_PER_HOUR = 3600.0
MILLION = 1e6


def cost_of(result: LevelResult, price: ServerPrice | None) -> LevelCost | None:
    """Return the cost of a level, computed from the price and the level's rates.

    Return None if there is no price, or if the level has no steady rate. Return None also for a price per
    token if the server did not report the token counts of every answer.
    """
    if price is None or result.achieved is None or not result.achieved.value:
        return None
    told = result.tokens_told == 1 and result.input_tokens is not None
    prompts = result.input_tokens.value if told and result.input_tokens is not None else None
    answers = result.output_tokens.value if told and result.output_tokens is not None else None
    if price.hour is not None:
        second = price.hour / SECONDS_PER_HOUR
    elif prompts is None or answers is None:
        return None
    else:
        second = (prompts * price.input + answers * price.output) / MILLION
    accuracy = 0.0
    if result.judged is not None and is_number(result.judged.accuracy):
        accuracy = result.judged.accuracy
    return LevelCost(
        hour=second * SECONDS_PER_HOUR,
        tokens=None if prompts is None or answers is None else second / (prompts + answers) * MILLION,
        output_tokens=second / answers * MILLION if answers else None,
        correct=second / (result.achieved.value * accuracy) if accuracy else None,
    )
