"""The smallest true difference that a comparison could have detected.

Normal approximations, two-sided: Miller (2024), arXiv 2411.00640; for independent proportions Fleiss, Levin
and Paik (2003), "Statistical Methods for Rates and Proportions".
"""

from __future__ import annotations

import math

from benchwright.stats.distributions import normal_quantile


def minimum_detectable_effect(
    sd_difference: float, n: int, *, design_effect: float = 1.0, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest true mean difference that n pairs detect with the given power.

    (z_{alpha/2} + z_{power}) * sd_difference * sqrt(design_effect / n), with `sd_difference` the standard
    deviation of the difference per sample (`sd` of a paired result).

    Raises:
        ValueError: If n < 1, sd is negative, the design effect is not above 0, or alpha or power is outside
            (0, 1).
    """
    _require_design(sd_difference, design_effect)
    if n < 1:
        raise ValueError(f"n must be at least 1: {n}")
    return _standard_errors(alpha, power) * sd_difference * math.sqrt(design_effect / n)


def detectable_proportion(p: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the nearest rate above p that can be distinguished from p with n samples per side.

    The sides are independent. A side needs n = ((z_{alpha/2} sqrt(2 p q) + z_{power} sqrt(p_a q_a + p_b q_b)) /
    (p_a - p_b))^2 samples, with p the mean of both rates and q = 1 - p. The formula is solved for p_b. None if
    not even the rate 1 is far enough from p. For rates below p, call the function with 1 - p.

    Raises:
        ValueError: If n < 1, p is outside [0, 1], or alpha or power is outside (0, 1).
    """
    if n < 1:
        raise ValueError(f"n must be at least 1: {n}")
    if p == 1 or _proportion_samples(p, 1.0, alpha, power) > n:
        return None
    low, high = p, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if _proportion_samples(p, middle, alpha, power) > n:
            low = middle
        else:
            high = middle
    return high


def _proportion_samples(p_a: float, p_b: float, alpha: float, power: float) -> float:
    if not (0 <= p_a <= 1 and 0 <= p_b <= 1):
        raise ValueError(f"rates lie between 0 and 1: {p_a}, {p_b}")
    pooled = (p_a + p_b) / 2
    under_null = normal_quantile(1 - alpha / 2) * math.sqrt(2 * pooled * (1 - pooled))
    under_difference = normal_quantile(power) * math.sqrt(p_a * (1 - p_a) + p_b * (1 - p_b))
    return float(((under_null + under_difference) / (p_a - p_b)) ** 2)


def _standard_errors(alpha: float, power: float) -> float:
    """Return the smallest detectable difference, in units of its standard error."""
    return normal_quantile(1 - alpha / 2) + normal_quantile(power)


def _require_design(sd_difference: float, design_effect: float) -> None:
    if not sd_difference >= 0 or not design_effect > 0:
        raise ValueError(f"impossible design: sd {sd_difference}, design effect {design_effect}")
