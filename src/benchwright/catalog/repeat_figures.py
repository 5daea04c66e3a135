"""Figures over the repeats of each sample, such as pass@k.

For each k, samples with fewer than k repeats are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchwright.catalog.benchmark import Figure


def figures_over_repeats(
    samples: Sequence[tuple[int, int]],
    ks: Iterable[int],
    formula: Callable[[int, int, int], float],
    name: str,
    note: str | None = None,
) -> list[Figure]:
    """Return one figure per k: the mean of `formula(n, c, k)` over the samples with at least k repeats.

    `samples`: for each sample the pair (n, c): the number n of its repeats, and the number c of repeats that
    passed. `name`: the name of the figures, with a placeholder for k. If some samples have too few repeats,
    the note states how many samples are included.
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
