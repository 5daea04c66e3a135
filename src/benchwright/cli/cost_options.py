"""Options for the cost estimate of `--dry-run`: the server's speed, and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benchwright.cli.command_help import combine_options, option

if TYPE_CHECKING:
    from benchwright.analysis.leaderboard.records import TokenPrice

cost_options = combine_options(
    option("--speed", metavar="TOKENS|LOAD", heading="Running", rare=True,
           help="For the minutes of --dry-run: completion tokens per second of the server, all requests together, "
           "or a measurement of benchwright load (default: minutes are not told)."),
    option("--price", "prices", multiple=True, metavar="MODEL=IN,OUT", heading="Running", rare=True,
           help="For the money of --dry-run: price of a million prompt tokens and of a million completion tokens. "
           "Repeatable."),
)  # fmt: skip


class CostRates(NamedTuple):
    """Rates for the cost estimate.

    `tokens_per_second`: completion tokens per second, None if unknown. `prices`: price by model.
    """

    tokens_per_second: float | None
    prices: dict[str, TokenPrice]


NO_RATES = CostRates(None, {})


def take_rates(options: dict[str, Any]) -> CostRates:
    """Remove the options for speed and prices from `options`, and return their values.

    Raises:
        UserError: If a value is invalid, or names a load measurement that does not exist.
    """
    speed, prices = options.pop("speed"), options.pop("prices")
    if speed is None and not prices:
        return NO_RATES
    from benchwright.analysis.leaderboard.spending import parse_price

    return CostRates(None if speed is None else _speed(speed), dict(map(parse_price, prices)))


def _speed(text: str) -> float:
    """Return the completion tokens per second that the option gives.

    If the option names a load measurement, return the maximum of that measurement.
    """
    from benchwright.analysis.load.comparison.references import find_load
    from benchwright.errors import UserError

    try:
        number = float(text)
    except ValueError:
        levels = find_load(text).levels
        reached = [level.output_tokens.value for level in levels if level.output_tokens is not None]
        if not reached:
            raise UserError(f"--speed {text}: the server told no tokens in this measurement.") from None
        return max(reached)
    if not 0 < number < float("inf"):
        raise UserError(
            f"--speed {text!r}: give completion tokens per second, such as 1500, or a measurement."
        )
    return number
