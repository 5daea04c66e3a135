"""Figures over the repeats of samples, such as pass@k: a sample with fewer than k repeats is left out of that k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchwright.catalog.benchmark import Figure


def over_repeats(
    samples: Sequence[tuple[int, int]],
    ks: Iterable[int],
    formula: Callable[[int, int, int], float],
    name: str,
    note: str | None = None,
) -> list[Figure]:
    """Return the mean of `formula(n, c, k)` for each k, over the samples with n >= k repeats, c of which passed.

    `name` has a place for k. If some samples have too few repeats, the note says of how many the figure is.
    """
    figures = []
    for k in ks:
        enough = [(n, c) for n, c in samples if n >= k]
        if enough:
            some = f"of {len(enough):,} of {len(samples):,} samples: the others have fewer than {k} repeats"
            told = "; ".join(filter(None, [note, some if len(enough) < len(samples) else None]))
            mean = sum(formula(n, c, k) for n, c in enough) / len(enough)
            figures.append(Figure(name.format(k), mean, told or None))
    return figures
