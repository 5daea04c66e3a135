"""Selection of a benchmark's samples: by which ids and labels, in which order, and how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from benchwright.catalog.benchmark import Benchmark
from benchwright.data.datasets import Source
from benchwright.errors import UserError
from benchwright.records import Record, Sample
from benchwright.suggestions import did_you_mean

ID_KEY = "id"
"""The key of `where` that stands for a sample's id."""

MAX_NAMED_IDS = 5
"""Maximum number of unknown ids that an error message lists."""


class Selection(Record, frozen=True):
    """A selection of samples: those that match `where` and `ids`. At most `limit` of them are used.

    - `where`: values or patterns such as `django__*`, keyed by a label or by `id`. A sample must match every
      key, and for each key at least one of its patterns.
    - `ids`: exact ids. Empty means all samples.
    - `shuffle`: seed of the shuffle. None keeps the original order.
    """

    limit: int | None = None
    where: Mapping[str, str | Sequence[str]] = {}
    shuffle: int | None = None
    ids: Sequence[str] = ()

    def patterns(self) -> dict[str, Sequence[str]]:
        """Return the patterns of `where` as a sequence for each key."""
        return {key: [value] if isinstance(value, str) else value for key, value in self.where.items()}


def select_samples(benchmark: Benchmark, source: Source, selection: Selection) -> Iterator[Sample]:
    """Yield the selected samples.

    Each row is read only when its sample is requested, unless the samples are shuffled.
    """
    patterns, ids = selection.patterns(), frozenset(selection.ids)

    def wanted(sample: Sample) -> bool:
        if ids and sample.id not in ids:
            return False
        values = _values(sample)
        return all(
            any(key in values and _fits(values[key], one) for one in some) for key, some in patterns.items()
        )

    samples: Iterator[Sample] = filter(wanted, benchmark.samples(source))
    if selection.shuffle is not None:
        import random

        shuffled = list(samples)
        random.Random(selection.shuffle).shuffle(shuffled)
        samples = iter(shuffled)
    return islice(samples, selection.limit)


def count_selected(benchmark: Benchmark, source: Source, selection: Selection) -> int:
    """Return the number of selected samples, after reading and checking them all.

    Raises:
        UserError: If no sample is selected, or the selection names an id, label or value that no sample has.
    """
    count = sum(1 for _ in select_samples(benchmark, source, selection))
    names_several = selection.ids or any(len(some) > 1 for some in selection.patterns().values())
    if not count or names_several:
        _check(benchmark, source, selection, count)
    return count


def _check(benchmark: Benchmark, source: Source, selection: Selection, count: int) -> None:
    """Check that every id, label and value in the selection exists, and that some sample matches all of them.

    Raises:
        UserError: If one of them does not exist, or no sample matches. The message names the nearest existing
            one.
    """
    name = benchmark.about.full_name
    known: dict[str, set[str]] = {}
    for sample in benchmark.samples(source):
        for label, value in _values(sample).items():
            known.setdefault(label, set()).add(value)
    if not known:
        raise UserError(f"{name} has no samples in {source.root}.")
    _check_ids(name, selection.ids, known[ID_KEY])
    for label, patterns in selection.patterns().items():
        if label not in known:
            raise UserError(
                f"The samples of {name} have no {label!r}; they have: {', '.join(sorted(known))}."
            )
        for pattern in patterns:
            if not any(_fits(value, pattern) for value in known[label]):
                hint = did_you_mean(pattern, known[label])
                raise UserError(f"No sample of {name} has {label}={pattern}.{hint}")
    if not count:
        together = "--ids and all --where filters" if selection.ids else "all --where filters"
        raise UserError(f"No sample of {name} matches {together}.")


def read_ids(path: Path) -> tuple[str, ...]:
    """Read the ids in a file, one per line. Return them sorted and without duplicates.

    Blank lines and comments are skipped. Only a `#` at the start of a line or after a blank begins a comment.

    Raises:
        UserError: If the file cannot be read, or contains no id.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UserError(f"--ids: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UserError(f"--ids: {path} is not a text file in UTF-8.") from None
    ids = tuple(sorted({identity for line in lines if (identity := _without_comment(line))}))
    if not ids:
        raise UserError(f"--ids: {path} holds no ids; write one per line.")
    return ids


def _without_comment(line: str) -> str:
    return f" {line}".partition(" #")[0].strip()


def _values(sample: Sample) -> dict[str, str]:
    return {**sample.labels, ID_KEY: sample.id}


def _fits(value: str, pattern: str) -> bool:
    return value == pattern or fnmatchcase(value, pattern)


def _check_ids(name: str, ids: Sequence[str], known: set[str]) -> None:
    unknown = [identity for identity in ids if identity not in known]
    if not unknown:
        return
    told = ", ".join(f"{one!r}{_nearest(one, known)}" for one in unknown[:MAX_NAMED_IDS])
    more = f" and {len(unknown) - MAX_NAMED_IDS} more" if len(unknown) > MAX_NAMED_IDS else ""
    raise UserError(f"--ids: {name} has no sample{'s' if len(unknown) > 1 else ''} {told}{more}.")


def _nearest(identity: str, known: set[str]) -> str:
    hint = did_you_mean(identity, known).strip().rstrip("?")
    return f" ({hint[0].lower()}{hint[1:]}?)" if hint else ""
