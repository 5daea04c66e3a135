"""BFCL's own package, where it can be fetched: its classes are executed, and its gold answers are right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import samples, validated

from benchwright.catalog.bfcl.about import BFCL
from benchwright.data.errors import DatasetError
from benchwright.data.fetch import fetch_dataset


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of bfcl as `benchwright fetch` fills it."""
    try:
        return fetch_dataset(BFCL.dataset, tmp_path_factory.mktemp("data"), print)
    except DatasetError as error:
        pytest.skip(f"the package bfcl-eval cannot be fetched: {error}")


def test_all_tasks_that_can_be_run_here_are_there(package: Path) -> None:
    found = Counter(sample.labels["group"] for sample in samples("bfcl", package))
    assert found == {"non_live": 1390, "live": 2251, "multi_turn": 800}
    assert found.total() == BFCL.items


@pytest.mark.parametrize(
    ("category", "exceptions"),
    [("simple_java", 2), ("simple_javascript", 0), ("live_simple", 2), ("parallel_multiple", 0)],
)
async def test_single_turn_gold_passes_and_decoys_fail(category: str, exceptions: int, package: Path) -> None:
    played = await validated("bfcl", package, categories=category)
    assert (played.failures, len(played.exceptions)) == ([], exceptions)


@pytest.mark.parametrize("category", ["base", "miss_func", "miss_param", "long_context"])
async def test_multi_turn_gold_passes_on_the_executed_classes(category: str, package: Path) -> None:
    played = await validated("bfcl", package, limit=2, categories=f"multi_turn_{category}")
    assert (played.checks, played.failures) == (8, [])
