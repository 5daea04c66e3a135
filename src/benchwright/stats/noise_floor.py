"""The noise floor: how much the scores of one model differ between repeats, and how many samples comparisons
need because of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import (
    exact_mean,
    exact_sum,
    label_codes,
    require_same_length,
    sample_std,
    to_vector,
)
from benchwright.stats.intervals import critical_z
from benchwright.stats.power import minimum_detectable_effect
from benchwright.stats.score_means import sample_means


class Noise(msgspec.Struct, frozen=True, omit_defaults=True):
    """Noise of one model's scores, estimated from repeats.

    `flips`: the probability that two answers to the same sample score differently. `within`: the variance
    between repeats of a sample. `between`: the variance of the samples' true means. `apart`: the largest
    difference between the means of two runs of this model that noise alone explains, with probability
    `confidence`, over these samples and with as many repeats as here.
    """

    n_samples: int
    n_values: int
    flips: float
    within: float
    between: float
    apart: float
    confidence: float = 0.95


class SampleSizePlan(msgspec.Struct, frozen=True):
    """Number of samples that a comparison of two models needs to show a true `difference`.

    `repeats`: number of repeats per sample and model.
    """

    difference: float
    repeats: int
    samples: int


def estimate_noise(
    values: ArrayLike, samples: Iterable[Hashable], *, confidence: float = 0.95
) -> Noise | None:
    """Return the noise of values (one per trial), estimated from samples with repeats.

    `samples` has the sample of each value. Return None if no sample has repeats. Samples without repeats carry
    no information about noise and are left out. Each sample has the same weight, however many values it has:
    its flips are the share of its k (k - 1) / 2 pairs of values that differ. Two runs of the same model on the
    same n samples differ by noise alone, Var = 2 within * mean(1 / k) / n: Miller (2024), arXiv 2411.00640,
    section 3.

    Raises:
        ValueError: If a value is not finite, or there is not one sample for each value.
    """
    array = to_vector(values)
    codes, labels = label_codes(samples)
    require_same_length("values", array.size, "samples", codes.size)
    repeated = np.bincount(codes, minlength=len(labels))[codes] > 1
    array, codes = array[repeated], codes[repeated]
    if array.size == 0:
        return None
    per_sample = sample_means(array, codes)
    counts = per_sample.counts
    within = per_sample.variance_within_samples or 0.0
    mean_noise = within * exact_mean(1 / counts)
    n = counts.size
    between = max(0.0, sample_std(per_sample.means) ** 2 - mean_noise) if n > 1 else 0.0
    return Noise(
        n_samples=n,
        n_values=array.size,
        flips=_flips(array, codes),
        within=within,
        between=between,
        apart=critical_z(confidence) * math.sqrt(2 * mean_noise / n),
        confidence=confidence,
    )


def sample_size_plans(
    found: Noise,
    *,
    differences: Sequence[float] = (0.01, 0.02, 0.03, 0.05),
    repeats: Sequence[int] = (1, 2, 4, 8),
    correlation: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
) -> list[SampleSizePlan]:
    """Return the number of samples that a comparison of two models with this noise needs, for each difference
    and number of repeats.

    The difference per sample has the variance 2 between (1 - correlation) + 2 within / repeats (Miller 2024,
    section 3). `correlation` is the correlation of the two models' true means over samples. With correlation 1,
    only the noise is left: the minimum that any two models need. The number of samples follows from
    `minimum_detectable_effect`.

    Raises:
        ValueError: If a difference is not above 0, a number of repeats is below 1, or the correlation is
            outside [-1, 1].
    """
    if min(differences) <= 0 or min(repeats) < 1 or not -1 <= correlation <= 1:
        raise ValueError(
            f"no such plan: differences {differences}, repeats {repeats}, correlation {correlation}"
        )
    return [
        SampleSizePlan(difference, times, max(1, math.ceil((detectable / difference) ** 2)))
        for difference in differences
        for times in repeats
        for detectable in [
            minimum_detectable_effect(
                math.sqrt(2 * found.between * (1 - correlation) + 2 * found.within / times),
                1,
                alpha=alpha,
                power=power,
            )
        ]
    ]


def _flips(values: np.ndarray, codes: np.ndarray) -> float:
    """Return the share of pairs of repeats whose values differ, computed per sample and averaged over the samples."""
    _, value_codes = np.unique(values, return_inverse=True)
    _, starts, same = np.unique(
        codes.astype(np.int64) * (int(value_codes.max()) + 1) + value_codes,
        return_index=True,
        return_counts=True,
    )
    counts = np.bincount(codes).astype(np.float64)
    equal = np.bincount(codes[starts], weights=same * (same - 1.0), minlength=counts.size)
    held = counts > 1
    return exact_sum(1 - equal[held] / (counts[held] * (counts[held] - 1))) / int(held.sum())
