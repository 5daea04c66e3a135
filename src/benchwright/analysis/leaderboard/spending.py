"""Number, tokens and cost of the requests to models.

Side requests of agents (titles, summaries) are also counted separately.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.analysis.leaderboard.records import TokenPrice
from benchwright.analysis.request_summary import RequestSummary
from benchwright.errors import UserError
from benchwright.records import Record


class Spending(Record, frozen=True):
    """Number, tokens and cost of requests. `cost`: None if the price or a token count is unknown.

    `uncounted`: number of requests without token counts. `side_*`: the share of the totals that is due to side
    requests of an agent (titles, summaries).
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    cost: float | None = None
    side_requests: int = 0
    side_prompt_tokens: int = 0
    side_completion_tokens: int = 0
    side_cost: float | None = None


def spending_of_requests(requests: RequestSummary, price: TokenPrice | None) -> Spending:
    """Return the number, tokens and cost of one target's requests."""
    known = price if not requests.uncounted_requests else None
    side = (requests.side_prompt_tokens, requests.side_completion_tokens)
    return Spending(
        requests=requests.all_requests,
        prompt_tokens=requests.all_prompt_tokens,
        completion_tokens=requests.all_completion_tokens,
        uncounted=requests.uncounted_requests,
        cost=_cost(requests.all_prompt_tokens, requests.all_completion_tokens, known),
        side_requests=requests.side_requests,
        side_prompt_tokens=requests.side_prompt_tokens,
        side_completion_tokens=requests.side_completion_tokens,
        side_cost=_cost(*side, known),
    )


def parse_price(text: str) -> tuple[str, TokenPrice]:
    """Parse `MODEL=IN,OUT`, the prices of a million tokens. Return the model and its price.

    Raises:
        UserError: If the text is not of this form.
    """
    model, _, amounts = text.rpartition("=")
    try:
        prompt, completion = map(float, amounts.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not model or not 0 <= prompt < float("inf") or not 0 <= completion < float("inf"):
        raise UserError(
            f"--price {text!r}: give MODEL=IN,OUT, the prices of a million tokens, such as m=0.5,1.5."
        )
    return model, TokenPrice(prompt, completion)


def sum_spending(all_of: Sequence[Spending]) -> Spending:
    """Sum the spending of several targets.

    The sum of the costs is None if the cost of any target is unknown.
    """
    return Spending(
        requests=sum(one.requests for one in all_of),
        prompt_tokens=sum(one.prompt_tokens for one in all_of),
        completion_tokens=sum(one.completion_tokens for one in all_of),
        uncounted=sum(one.uncounted for one in all_of),
        cost=_sum([one.cost for one in all_of]),
        side_requests=sum(one.side_requests for one in all_of),
        side_prompt_tokens=sum(one.side_prompt_tokens for one in all_of),
        side_completion_tokens=sum(one.side_completion_tokens for one in all_of),
        side_cost=_sum([one.side_cost for one in all_of]),
    )


def _cost(prompt: int, completion: int, price: TokenPrice | None) -> float | None:
    return None if price is None else (prompt * price.prompt + completion * price.completion) / 1e6


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
