"""Probabilities and quantiles: normal, Student's t, binomial, beta and hypergeometric distributions.

They are written out here, so that nothing heavier than the standard library is needed. Relative accuracy is
1e-10 or better for parameters (degrees of freedom, numbers of trials) from 0.5 to 1e6 and probabilities from
1e-100. The tests compare with scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_STANDARD_NORMAL = NormalDist()
_TINY = 1e-300


def require_fraction(name: str, value: float) -> None:
    """Raise ValueError unless 0 < value < 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} lies above 0 and below 1: {value}")


def normal_cdf(x: float) -> float:
    """Return P(Z <= x) for a standard normal Z, accurate in the lower tail too."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_quantile(p: float) -> float:
    """Return the x with P(Z <= x) = p. Raises ValueError unless 0 < p < 1."""
    require_fraction("the probability of a quantile", p)
    return _STANDARD_NORMAL.inv_cdf(p)


def t_cdf(t: float, df: float) -> float:
    """Return P(T <= t) for Student's t with df > 0 degrees of freedom (DLMF 8.17; any real df)."""
    if not df > 0 or math.isnan(t):
        raise ValueError(f"Student's t needs a number and degrees of freedom above 0: {t}, {df}")
    square = t * t
    if square == math.inf:
        return 0.0 if t < 0 else 1.0
    tail = 0.5 * _incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5)
    return tail if t < 0 else 1.0 - tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return the t with P(T <= t) = p. Raises ValueError unless 0 < p < 1 and df > 0."""
    require_fraction("the probability of a quantile", p)
    if p == 0.5:
        return 0.0
    tail = min(p, 1.0 - p)
    low = -normal_quantile(tail)
    high = 2.0 * low
    while t_cdf(-high, df) > tail:
        high *= 2.0
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)

    def density(t: float) -> float:
        return math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))

    distance = _solve(lambda t: tail - t_cdf(-t, df), density, low, high, low)
    return distance if p > 0.5 else -distance


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return P(X <= k) for X successes in n trials of probability p: I_{1-p}(n - k, k + 1) (DLMF 8.17.5)."""
    if n < 0 or not 0 <= p <= 1:
        raise ValueError(f"a binomial distribution needs n >= 0 and 0 <= p <= 1: n={n}, p={p}")
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return _incomplete_beta(1.0 - p, p, n - k, k + 1)


def binomial_quantile(q: float, n: int, p: float) -> int:
    """Return the smallest k with P(X <= k) >= q."""
    if not 0 <= q <= 1:
        raise ValueError(f"a probability lies between 0 and 1: {q}")
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if binomial_cdf(middle, n, p) >= q:
            high = middle
        else:
            low = middle + 1
    return low


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the x with I_x(a, b) = p, for a, b >= 1/2. Raises ValueError unless 0 < p < 1."""
    require_fraction("the probability of a quantile", p)
    if a < 0.5 or b < 0.5:
        raise ValueError(f"a beta distribution needs a and b of at least 1/2 here: {a}, {b}")

    def density(x: float) -> float:
        return _beta_kernel(x, 1.0 - x, a, b) / (x * (1.0 - x)) if 0.0 < x < 1.0 else 0.0

    return _solve(lambda x: _incomplete_beta(x, 1.0 - x, a, b) - p, density, 0.0, 1.0, a / (a + b))


def hypergeometric_p_value(k: int, drawn: int, marked: int, total: int) -> float:
    """Return the two-sided p-value of finding k marked items among `drawn` items (Fisher's exact test).

    The items are drawn at random from `total` items, of which `marked` are marked. The p-value is the sum of
    the probabilities of all numbers of marked items that are no more likely than k.

    Raises:
        ValueError: If k marked items cannot be drawn.
    """
    fewest, most = max(0, drawn - (total - marked)), min(drawn, marked)
    if not 0 <= drawn <= total or not fewest <= k <= most:
        raise ValueError(f"{k} marked of {drawn} drawn cannot be, with {marked} marked of {total}")
    logs = [
        _log_choose(marked, one) + _log_choose(total - marked, drawn - one) - _log_choose(total, drawn)
        for one in range(fewest, most + 1)
    ]
    limit = logs[k - fewest] + 1e-7
    return min(1.0, math.fsum(math.exp(log) for log in logs if log <= limit))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _incomplete_beta(x: float, y: float, a: float, b: float) -> float:
    """Return I_x(a, b). Both x and y = 1 - x are given, so that neither loses digits."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_kernel(y, x, b, a) / b * _continued_fraction(y, b, a)
    return _beta_kernel(x, y, a, b) / a * _continued_fraction(x, a, b)


def _beta_kernel(x: float, y: float, a: float, b: float) -> float:
    """Return x^a y^b / B(a, b), computed from the distance of x to the mean so that no large logarithms
    cancel.

    The saddle-point form of Loader (2000), "Fast and accurate computation of binomial probabilities".
    """
    mean_x, mean_y = a / (a + b), b / (a + b)
    distance = x - mean_x if x < y else mean_y - y
    exponent = a * _log_ratio(x, mean_x, distance) + b * _log_ratio(y, mean_y, -distance)
    exponent += _stirling_error(a + b) - _stirling_error(a) - _stirling_error(b)
    return math.sqrt(a * mean_y / (2 * math.pi)) * math.exp(exponent)


def _log_ratio(x: float, reference: float, distance: float) -> float:
    """Return log(x / reference).

    `distance` is x - reference, given because it is more accurate than the subtraction.
    """
    return math.log(x / reference) if abs(distance) > reference / 2 else math.log1p(distance / reference)


def _stirling_error(z: float) -> float:
    """Return log Gamma(z) minus Stirling's formula (DLMF 5.11.1)."""
    if z < 16:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi))
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / z


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of DLMF 8.17.22 (Lentz's method, modified by Thompson and Barnett)."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1) or _TINY)
    result = d
    for m in range(1, 1_000_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for coefficient in (even, odd):
            d = 1.0 / (1.0 + coefficient * d or _TINY)
            c = 1.0 + coefficient / c or _TINY
            change = c * d
            result *= change
        if abs(change - 1.0) < 3e-16:
            return result
    raise ArithmeticError(f"the incomplete beta function did not converge: x={x}, a={a}, b={b}")


def _solve(
    function: Callable[[float], float],
    slope: Callable[[float], float],
    low: float,
    high: float,
    guess: float,
) -> float:
    """Find the root of an increasing function between low and high, by Newton's method with bisection.

    `slope` is its derivative.
    """
    x, step = guess, high - low
    for _ in range(500):
        value = function(x)
        if value == 0.0:
            return x
        low, high = (x, high) if value < 0 else (low, x)
        gradient = slope(x)
        following = x - value / gradient if gradient > 0 else math.inf
        if abs(following - x) <= 1e-13 * abs(x):
            return following
        if not low < following < high or abs(following - x) > abs(step) / 2:
            following = (low + high) / 2
        step, x = following - x, following
        if high - low <= 1e-15 * abs(x):
            return x
    raise ArithmeticError(f"no root found between {low} and {high}")
