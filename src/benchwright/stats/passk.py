"""pass@k and pass^k: expected results of k tries at a sample, from n >= k trials of which c passed.

pass@k is the probability that at least one of k tries passes. pass^k (written pass_hat_k) is the probability
that all of them pass. Both estimates are unbiased: they average over all choices of k among the n trials. The
plug-in estimates 1 - (1 - c/n)^k and (c/n)^k are biased. Exact integers are divided once, so that rounding is
negligible for any n.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb

from benchwright.stats.arrays import require_same_length
from benchwright.stats.clusters import clustered_mean
from benchwright.stats.score_means import MeanEstimate, estimate_from_clusters

K_VALUES = (1, 3, 5, 10)
"""The values of k for which result files and summaries report pass@k, if there are enough trials."""


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return 1 - C(n - c, k) / C(n, k): Chen et al. (2021), arXiv 2107.03374, eq. 1.

    Raises:
        ValueError: Unless 0 <= c <= n and 1 <= k <= n.
    """
    _require_trials(n, c, k)
    choices = comb(n, k)
    return (choices - comb(n - c, k)) / choices


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return C(c, k) / C(n, k), the reliability pass^k: Yao et al. (2024), tau-bench, arXiv 2406.12045.

    Raises:
        ValueError: Unless 0 <= c <= n and 1 <= k <= n.
    """
    _require_trials(n, c, k)
    return comb(c, k) / comb(n, k)


def mean_pass_at_k(
    n: Sequence[int],
    c: Sequence[int],
    k: int,
    groups: Iterable[Hashable | None] | None = None,
    *,
    confidence: float = 0.95,
) -> MeanEstimate:
    """Return pass@k averaged over samples. Sample i has n[i] trials, of which c[i] passed.

    The unit is the sample; with `groups` (the cluster of each sample), the unit is the cluster. The interval is
    Wilson's with the effective number of trials, as for other rates (`score_means.estimate_mean`, with which k
    = 1 agrees). It stays inside [0, 1] and has a width even if every sample passed.

    Raises:
        ValueError: If there are no samples, lengths differ, or a sample has fewer than k trials.
    """
    return _over_samples(pass_at_k, n, c, k, groups, confidence)


def mean_pass_hat_k(
    n: Sequence[int],
    c: Sequence[int],
    k: int,
    groups: Iterable[Hashable | None] | None = None,
    *,
    confidence: float = 0.95,
) -> MeanEstimate:
    """Return pass^k averaged over samples, with the arguments and the interval of `mean_pass_at_k`."""
    return _over_samples(pass_hat_k, n, c, k, groups, confidence)


def _over_samples(
    formula: Callable[[int, int, int], float],
    n: Sequence[int],
    c: Sequence[int],
    k: int,
    groups: Iterable[Hashable | None] | None,
    confidence: float,
) -> MeanEstimate:
    require_same_length("trials", len(n), "passes", len(c))
    pairs = [(int(trials), int(passes)) for trials, passes in zip(n, c, strict=True)]
    value = {pair: formula(*pair, k) for pair in set(pairs)}
    clustered = clustered_mean(
        [value[pair] for pair in pairs], range(len(pairs)) if groups is None else groups
    )
    n_values = sum(trials for trials, _ in pairs)
    return estimate_from_clusters(clustered, n_values, proportion=True, confidence=confidence)


def _require_trials(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"passes lie between 0 and the number of trials: {c} of {n}")
    if not 1 <= k <= n:
        raise ValueError(f"k lies between 1 and the number of trials: k={k} with {n} trials")
