"""tau2-bench's tasks as they lie in the repository, and what their domains import."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, samples
from tests.catalog.tau2_bench.tau2_kit import cancelling, going_online, write_shop

from benchwright.catalog.tau2_bench.inside.libraries import BM25Okapi, Docstring, Updatable
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError


def test_the_three_published_domains_are_tried_unless_others_are_named(tmp_path: Path) -> None:
    rows = [cancelling("4"), cancelling("7")]
    root = write_shop(tmp_path, airline=rows, retail=rows, mock=rows, telecom=[going_online("[mms]a|b")])
    assert [sample.id for sample in samples("tau2_bench", root)] == [
        "tau2_airline_4",
        "tau2_airline_7",
        "tau2_retail_4",
        "tau2_retail_7",
        "tau2_telecom_[mms]a|b",
    ]
    (other,) = samples("tau2_bench", root, {"domain": "mock", "split": "test"})
    assert (other.id, other.labels) == ("tau2_mock_7", {"domain": "mock"})
    with pytest.raises(DatasetError, match="holds no small tasks of the domain retail"):
        samples("tau2_bench", root, {"domain": "retail", "split": "small"})


def test_a_sample_changes_with_the_code_of_its_domain_and_with_no_other(tmp_path: Path) -> None:
    root = write_shop(tmp_path, airline=[cancelling()], retail=[cancelling()])
    before = samples("tau2_bench", root, {"domain": "airline,retail"})
    code = root / "src/tau2/domains/retail/environment.py"
    code.write_text(code.read_text() + "# changed\n")
    after = samples("tau2_bench", root, {"domain": "airline,retail"})
    assert [one.content == other.content for one, other in zip(before, after, strict=True)] == [True, False]


def test_tasks_of_banking_lie_in_a_file_each_and_say_how_documents_are_found(tmp_path: Path) -> None:
    root = write_shop(tmp_path, airline=[cancelling()])
    folder = root / "data/tau2/domains/banking_knowledge"
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "task_001.json").write_text(json.dumps(cancelling("task_001")))
    (sample,) = samples("tau2_bench", root, {"domain": "banking_knowledge", "retrieval": "grep_only"})
    assert (sample.id, sample.content["retrieval"]) == ("tau2_banking_knowledge_task_001", "grep_only")


def test_a_task_that_is_none_is_named(tmp_path: Path) -> None:
    root = write_shop(tmp_path, retail=[cancelling() | {"user_scenario": {}}])
    with pytest.raises(DatasetError, match=r"retail/tasks\.json: task 0: Object missing required field"):
        samples("tau2_bench", root, {"domain": "retail"})
    with pytest.raises(UserError, match="tau2_bench has no domain 'retial'"):
        benchmark("tau2_bench", {"domain": "retial"})


def test_what_differs_from_published_runs_is_listed() -> None:
    alone = benchmark("tau2_bench", {"split": "train"}).departures
    assert [said.split(" (")[0] for said in alone] == [
        "the model plays the simulated user itself",
        "no judge",
        "the tasks of train in place of base",
    ]


@pytest.mark.parametrize(
    ("options", "departures"),
    [
        ({"embedding_model": "text-embedding-3-large"}, ()),
        (
            {"embedding_model": "bge-m3"},
            ("documents are embedded by bge-m3; published figures use text-embedding-3-large",),
        ),
        ({"retrieval": "bm25"}, ("documents are found by bm25 in place of alltools",)),
        (
            {"retrieval": "qwen_embeddings", "embedding_model": "Qwen/Qwen3-Embedding-8B"},
            ("documents are found by qwen_embeddings in place of alltools",),
        ),
    ],
)
def test_banking_is_comparable_where_documents_are_found_as_in_published_runs(
    options: dict[str, str], departures: tuple[str, ...]
) -> None:
    roles = ["user", *(["embedding"] if "embedding_model" in options else [])]
    made = benchmark("tau2_bench", {"domain": "banking_knowledge", "user_model": "u", **options}, roles)
    assert made.departures == departures


@pytest.mark.parametrize(
    ("options", "roles", "complaint"),
    [
        (
            {"domain": "banking_knowledge"},
            [],
            r"retrieval=alltools \(the authors' default.* embedding_model=",
        ),
        (
            {"retrieval": "bm25_reranker_grep"},
            [],
            "is not there; --option retrieval=bm25_grep is the same without",
        ),
        ({"mode": "solo", "domain": "retail"}, [], r"tickets \(telecom, mock\), not for retail"),
        ({"mode": "solo", "user_model": "u"}, ["user"], "has no user to play"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    options: dict[str, str], roles: list[str], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        benchmark("tau2_bench", options, roles)


def test_docstrings_are_read_as_the_library_reads_them() -> None:
    read = Docstring(
        """Books a flight.

        Only once: twice is refused.

        Args:
            flight (str): Its number,
                like 'HAT001'.
            seats: How many: 1 to 5.

        Returns:
            What was booked.
        """
    )
    assert (read.short_description, read.long_description) == (
        "Books a flight.",
        "Only once: twice is refused.",
    )
    assert [tuple(one) for one in read.params] == [
        ("flight", "str", "Its number,\nlike 'HAT001'."),
        ("seats", None, "How many: 1 to 5."),
    ]


def test_bm25_weighs_rare_words_by_their_frequency_and_the_length_of_documents() -> None:
    scores = BM25Okapi([["a", "b", "b"], ["a", "c"], ["a"]]).get_scores(["b", "unknown"])
    rare = math.log(2.5) - math.log(1.5)
    assert scores == pytest.approx([rare * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)), 0.0, 0.0])


def test_updates_go_into_the_depth_and_replace_lists() -> None:
    state = Updatable({"a": {"b": 1, "c": [1, 2]}, "d": 3})
    state.update({"a": {"c": [3]}, "e": {}})
    assert state.to_dict() == {"a": {"b": 1, "c": [3]}, "d": 3, "e": {}}
