"""BFCL's categories of tasks, their groups on the leaderboard, and the option `categories`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.suggestions import did_you_mean

CheckKind = Literal["single", "multiple", "parallel", "irrelevance", "relevance", "multi_turn", "memory"]
Language = Literal["python", "java", "javascript"]


class Category(Record, frozen=True):
    """One category: its group on the leaderboard, the kind of check, and the language of its functions."""

    name: str
    group: str
    check_kind: CheckKind
    language: Language = "python"


CATEGORIES = {
    category.name: category
    for category in (
        Category("simple_python", "non_live", "single"),
        Category("simple_java", "non_live", "single", "java"),
        Category("simple_javascript", "non_live", "single", "javascript"),
        Category("multiple", "non_live", "multiple"),
        Category("parallel", "non_live", "parallel"),
        Category("parallel_multiple", "non_live", "parallel"),
        Category("irrelevance", "non_live", "irrelevance"),
        Category("live_simple", "live", "single"),
        Category("live_multiple", "live", "multiple"),
        Category("live_parallel", "live", "parallel"),
        Category("live_parallel_multiple", "live", "parallel"),
        Category("live_irrelevance", "live", "irrelevance"),
        Category("live_relevance", "live", "relevance"),
        Category("multi_turn_base", "multi_turn", "multi_turn"),
        Category("multi_turn_miss_func", "multi_turn", "multi_turn"),
        Category("multi_turn_miss_param", "multi_turn", "multi_turn"),
        Category("multi_turn_long_context", "multi_turn", "multi_turn"),
        Category("memory_kv", "memory", "memory"),
        Category("memory_vector", "memory", "memory"),
        Category("memory_rec_sum", "memory", "memory"),
    )
}
"""All supported categories, keyed by their names in version 4."""

FORMER_CATEGORY_NAMES = {"simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}
"""Mapping from names of version 3 that have changed to the names in version 4."""

CATEGORY_GROUPS = ("non_live", "live", "multi_turn", "memory")

VECTOR_MEMORY_CATEGORY = "memory_vector"
"""The category whose memory is searched with an embedding model."""

MEMORY_CLASSES = {
    "memory_kv": "MemoryAPI_kv",
    VECTOR_MEMORY_CATEGORY: "MemoryAPI_vector",
    "memory_rec_sum": "MemoryAPI_rec_sum",
}
"""Mapping from a memory category to the name of the BFCL class that implements its memory.

These categories run only if the option `categories` names them, because long conversations precede their
questions.
"""

UNSUPPORTED_REASONS = {
    "agentic": "its web search needs a search service; choose memory",
    "web_search": "it needs a search service",
}
"""Mapping from the beginning of the name of a category or group that is not supported to the reason."""


def category_of(identifier: str) -> Category | None:
    """Return the category in a row's id, which is the part before the last `_`.

    Return None if the category is not supported.
    """
    name = identifier.rpartition("_")[0]
    return CATEGORIES.get(FORMER_CATEGORY_NAMES.get(name, name))


def parse_categories(text: str) -> frozenset[str]:
    """Return the categories in a comma-separated list of categories and groups. `all` means all supported ones.

    An empty text gives no categories.

    Raises:
        UserError: If a name is neither a category nor a group, or is not supported here.
    """
    wanted: set[str] = set()
    for name in filter(None, (part.strip() for part in text.split(","))):
        wanted.update(_named(FORMER_CATEGORY_NAMES.get(name, name)))
    return frozenset(wanted)


def _named(name: str) -> Iterable[str]:
    if name == "all":
        return CATEGORIES
    if name in CATEGORY_GROUPS:
        return (one.name for one in CATEGORIES.values() if one.group == name)
    if name in CATEGORIES:
        return (name,)
    if why := next(
        (why for beginning, why in UNSUPPORTED_REASONS.items() if name.startswith(beginning)), None
    ):
        raise UserError(f"The BFCL category {name!r} is not run here: {why}.")
    known = ("all", *CATEGORY_GROUPS, *CATEGORIES)
    raise UserError(
        f"There is no BFCL category {name!r}.{did_you_mean(name, known)} Choose from: {', '.join(known)}."
    )
