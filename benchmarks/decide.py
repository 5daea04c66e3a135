"""`python -m benchmarks.decide MATRIX.csv`: would `--until decided` have been right, and how early?

A matrix has one row a sample and one column a model, with a header and the sample's name in the first column; cells
are scores from 0 to 1. All pairs of models are replayed in random orders, and compared with what all samples say:
McNemar's mid-p (or t) at the same error.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchwright.stats.paired_tests import paired_difference
from benchwright.stats.sequential.confidence_sequence import ConfidenceSequence

Numbers = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decide", description=__doc__)
    parser.add_argument("matrix", type=Path, help="CSV: samples x models")
    parser.add_argument(
        "--samples", type=int, help="a random part of the samples, as a benchmark of this size"
    )
    parser.add_argument("--orders", type=int, default=3, help="random orders of each pair")
    parser.add_argument("--error", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    scores = read(options.matrix)
    scores = scores[generator.permutation(len(scores))[: options.samples]]
    print(
        f"{options.matrix.name}: {scores.shape[0]} samples, {scores.shape[1]} models, {options.orders} orders"
    )
    differences = all_pairs(scores)
    full = np.array([p_value(first, second) for first, second in pairs(scores)]) <= options.error
    for finite in (False, True):
        name = "the whole benchmark" if finite else "new questions of this kind"
        print(f"\n{name}")
        replay(differences, full, options.orders, options.error, finite, generator)
        false_alarms(differences, options.orders, options.error, finite, generator)


def read(path: Path) -> Numbers:
    with path.open(newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return np.array([[float(cell) for cell in row[1:]] for row in rows])


def pairs(scores: Numbers) -> list[tuple[Numbers, Numbers]]:
    columns = scores.T
    return [(columns[i], columns[j]) for i in range(len(columns)) for j in range(i)]


def all_pairs(scores: Numbers) -> Numbers:
    """The differences (samples, pairs)."""
    return np.stack([first - second for first, second in pairs(scores)], axis=1)


def p_value(first: Numbers, second: Numbers) -> float:
    found = paired_difference(first, second).p_value
    return 1.0 if found is None else found


def decided(differences: Numbers, error: float, finite: bool) -> tuple[Numbers, Numbers]:
    """When each sequence (n, sequences) was decided (infinity: never), and the sign of its verdict."""
    n, sequences = differences.shape
    running = ConfidenceSequence(n, side_error=error / 2, finite=finite, claims=3, shape=(sequences,))
    running_at, sign = np.full(sequences, np.inf), np.zeros(sequences)
    for place, values in enumerate(differences, start=1):
        running.add(values)
        now = (running_at > n) & ((running.low > 0) | (running.high < 0))
        running_at[now], sign[now] = place, np.where(running.low > 0, 1, -1)[now]
    return running_at, sign


def replay(
    differences: Numbers,
    full: NDArray[np.bool_],
    orders: int,
    error: float,
    finite: bool,
    generator: np.random.Generator,
) -> None:
    n = len(differences)
    sign_of_all = np.sign(differences.sum(axis=0))
    runs = [decided(generator.permutation(differences), error, finite) for _ in range(orders)]
    at, sign = (np.stack(each) for each in zip(*runs, strict=True))
    given, wrong = np.isfinite(at), np.isfinite(at) & (sign != sign_of_all)
    used = np.minimum(at, n) / n
    print(f"  verdicts of all samples     {full.sum()} of {full.size} pairs")
    print(f"  of these given at all       {given[:, full].mean():.1%}")
    print(f"  of these given by 55 %      {(used[:, full] <= 0.55).mean():.1%}")
    print(
        f"  samples used for these      mean {used[:, full].mean():.1%}, median {np.median(used[:, full]):.1%}"
    )
    print(f"  samples used for all pairs  mean {used.mean():.1%}")
    print(f"  given where all give none   {given[:, ~full].mean() if (~full).any() else 0:.1%}")
    print(
        f"  with the opposite sign      {wrong.mean():.2%} (of verdicts of all samples {wrong[:, full].mean():.2%})"
    )


def false_alarms(
    differences: Numbers, orders: int, error: float, finite: bool, generator: np.random.Generator
) -> None:
    """Both sides' scores are exchanged at random per sample, so that there is no difference to be found."""
    n = len(differences)
    alarms, peeking = [], []
    for _ in range(orders):
        permuted = generator.permutation(differences) * generator.choice([-1.0, 1.0], differences.shape)
        if finite:
            permuted = np.concatenate([permuted[: n // 2], -permuted[: n // 2]])
            permuted = generator.permuted(permuted, axis=0)
        alarms.append(np.isfinite(decided(permuted, error, finite)[0]))
        peeking.append(peeked(permuted))
    alarm, naive = np.concatenate(alarms), np.concatenate(peeking)
    margin = 2 * np.sqrt(error * (1 - error) / alarm.size)
    print(f"  false alarms                {alarm.mean():.2%} of {alarm.size} (at most {error + margin:.2%})")
    print(f"  a z test looked at always   {naive.mean():.1%}")


def peeked(differences: Numbers) -> NDArray[np.bool_]:
    """Whether a z test at 5 % was significant at any moment from the 30th sample on."""
    sums, squares = np.cumsum(differences, axis=0), np.cumsum(differences**2, axis=0)
    z = np.abs(sums) / np.sqrt(np.maximum(squares, 1))
    return np.asarray((z[29:] > 1.96).any(axis=0))


if __name__ == "__main__":
    main()
