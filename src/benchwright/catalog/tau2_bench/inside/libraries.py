"""Replacements for the libraries that the authors' domains import, with only the functions that they use.

Runs in the sandbox.

- loguru, deepdiff, yaml, dotenv: stubs. Nothing is logged, compared or read with these libraries here.
- toml: `load`, by Python's tomllib.
- addict: `Dict`, a dict with a recursive update.
- docstring_parser: `parse`, for docstrings in Google's style, as far as tool schemas need it.
- rank_bm25: `BM25Okapi`, with the same scores, computed in the same order.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import tomllib
import types
from collections import Counter
from typing import Any, NamedTuple

_TITLE = re.compile(
    r"^(Arguments|Args|Parameters|Params|Raises|Exceptions|Except|Attributes|Examples?|Returns|Yields):[ \t]*$",
    re.MULTILINE,
)
_PARAMETERS = ("Arguments", "Args", "Parameters", "Params")
_TYPED = re.compile(r"\s*(.+?)\s*\(\s*(.*[^\s]+)\s*\)")


class Parameter(NamedTuple):
    """The description of one parameter in a docstring."""

    arg_name: str
    type_name: str | None
    description: str | None


class Docstring:
    """The sections of a docstring from which a tool's schema is made."""

    returns = None
    raises: tuple[Any, ...] = ()
    examples: tuple[str, ...] = ()

    def __init__(self, text: str) -> None:
        text = inspect.cleandoc(text)
        titles = list(_TITLE.finditer(text))
        described = text[: titles[0].start()] if titles else text
        first, _, rest = described.partition("\n")
        self.short_description = first or None
        self.long_description = rest.strip() or None
        self.params: list[Parameter] = []
        ends = [*(title.start() for title in titles[1:]), len(text)][: len(titles)]
        for title, end in zip(titles, ends, strict=True):
            if title[1] in _PARAMETERS:
                self.params += _parameters(text[title.end() : end])


def _parameters(chunk: str) -> list[Parameter]:
    chunk = re.split(r"\n(?=\S)", chunk, maxsplit=1)[0].strip("\n")
    found = re.match(r"^\s*", chunk)
    indent = found.group() if found else ""
    starts = [one.start() for one in re.finditer(rf"^{indent}(?=\S)", chunk, re.MULTILINE)]
    parts = [chunk[one:end].strip("\n") for one, end in zip(starts, [*starts[1:], len(chunk)], strict=True)]
    return [_parameter(part) for part in parts if ":" in part]


def _parameter(part: str) -> Parameter:
    before, _, text = part.partition(":")
    first, line_end, rest = text.removeprefix(" ").partition("\n")
    description = (first + line_end + inspect.cleandoc(rest) if line_end else first).strip("\n")
    typed = _TYPED.match(before)
    if typed:
        return Parameter(typed[1], typed[2].removesuffix(", optional").removesuffix("?"), description)
    return Parameter(before.strip(), None, description)


class BM25Okapi:
    """BM25 scores of documents for a query (Robertson et al.; rank_bm25 0.2.2).

    Documents and query are lists of words. A word in more than half of the documents would have a negative
    weight. That weight is replaced by `epsilon` times the mean weight.
    """

    def __init__(
        self, corpus: list[list[str]], k1: float = 1.5, b: float = 0.75, epsilon: float = 0.25
    ) -> None:
        self._k1, self._b = k1, b
        self._frequencies = [Counter(document) for document in corpus]
        self._lengths = [len(document) for document in corpus]
        self._average = sum(self._lengths) / len(corpus)
        documents_with = Counter(word for frequencies in self._frequencies for word in frequencies)
        self._weights = {
            word: math.log(len(corpus) - count + 0.5) - math.log(count + 0.5)
            for word, count in documents_with.items()
        }
        total = 0.0
        for weight in self._weights.values():
            total += weight
        least = epsilon * (total / len(self._weights))
        self._weights = {word: weight if weight >= 0 else least for word, weight in self._weights.items()}

    def get_scores(self, query: list[str]) -> list[float]:
        """Return the score of each document for the query, in the order of the documents."""
        scores = [0.0] * len(self._lengths)
        for word in query:
            weight = self._weights.get(word) or 0
            for place, (frequencies, length) in enumerate(zip(self._frequencies, self._lengths, strict=True)):
                count = frequencies.get(word) or 0
                norm = self._k1 * (1 - self._b + self._b * length / self._average)
                scores[place] += weight * (count * (self._k1 + 1) / (count + norm))
        return scores


class Updatable(dict[str, Any]):
    """A dict whose `update` merges nested dicts. It replaces addict's `Dict`."""

    def update(self, *others: Any, **more: Any) -> None:
        """Merge other dicts into this dict, recursively. Lists are replaced, not merged."""
        for name, value in dict(*others, **more).items():
            mine = self.get(name)
            if isinstance(mine, dict) and isinstance(value, dict):
                mine = Updatable(mine)
                mine.update(value)
                value = mine
            self[name] = value

    def to_dict(self) -> dict[str, Any]:
        """Return the dict itself, since it is a plain dict already."""
        return self


class Silence:
    """A logger that has every method and logs nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *words, **more: None


def offer() -> None:
    """Make the replacements importable under the names of the libraries that they replace."""
    offered: dict[str, dict[str, Any]] = {
        "loguru": {"logger": Silence()},
        "deepdiff": {"DeepDiff": None},
        "yaml": {},
        "dotenv": {"load_dotenv": lambda *words, **more: True},
        "toml": {"load": lambda file: tomllib.loads(file.read())},
        "addict": {"Dict": Updatable},
        "docstring_parser": {"parse": Docstring},
        "rank_bm25": {"BM25Okapi": BM25Okapi},
    }
    for name, parts in offered.items():
        module = types.ModuleType(name)
        vars(module).update(parts)
        sys.modules[name] = module
