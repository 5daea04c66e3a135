"""tau-bench's data: two layouts, splits and domains, and what is said of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark, samples, source, validated
from tests.catalog.tau_bench.tau_kit import task, write_checkout, write_plain

from benchwright.catalog.tau_bench.environment import DomainEnvironments
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError


@pytest.mark.parametrize(("name", "checks"), [("tau_bench", 1072), ("tau_bench:documented", 486)])
async def test_all_real_test_tasks_pass_with_their_gold_actions_and_fail_with_every_trap(
    name: str, checks: int, real_rows: Path
) -> None:
    played = await validated(name, real_rows / "tau_bench")
    assert (played.samples, played.checks) == (165, checks)
    assert (played.failures, played.exceptions) == ([], {})


@pytest.mark.parametrize(("split", "count"), [("dev", 20), ("train", 20)])
async def test_so_do_the_real_retail_tasks_of_the_other_splits(
    split: str, count: int, real_rows: Path
) -> None:
    played = await validated("tau_bench", real_rows / "tau_bench", split=split)
    assert (played.samples, played.failures) == (count, [])


@pytest.mark.parametrize(("domain", "count"), [("retail", 115), ("airline", 50), ("all", 165)])
def test_a_domain_can_be_chosen(domain: str, count: int, real_rows: Path) -> None:
    found = samples("tau_bench", real_rows / "tau_bench", {"domain": domain})
    assert len(found) == count
    assert {sample.labels["domain"] for sample in found} == (
        {domain} if domain != "all" else {"airline", "retail"}
    )


def test_every_tool_that_is_offered_exists(real_rows: Path) -> None:
    worlds = DomainEnvironments(source("tau_bench", real_rows / "tau_bench"))
    for name, count in (("airline", 14), ("retail", 16)):
        offered = {tool["function"]["name"] for tool in worlds[name].tool_schemas}
        there = {*worlds[name].domain.read_tools, *worlds[name].domain.write_tools}
        assert offered == there
        assert len(offered) == count


def test_a_checkout_reads_like_plain_files_and_is_never_run(tmp_path: Path) -> None:
    plain = samples("tau_bench", write_plain(tmp_path / "plain"))
    assert samples("tau_bench", write_checkout(tmp_path / "checkout")) == plain
    assert [sample.id for sample in plain] == ["tau_bench_airline_0", "tau_bench_retail_0"]


def test_another_world_is_another_sample(tmp_path: Path) -> None:
    (before,) = samples("tau_bench", write_plain(tmp_path), {"domain": "retail"})
    (tmp_path / "retail_wiki.md").write_text("# A stricter policy\n")
    (after,) = samples("tau_bench", tmp_path, {"domain": "retail"})
    assert before.content != after.content


def test_tasks_of_one_customer_are_one_group(tmp_path: Path) -> None:
    (one, *_) = samples("tau_bench", write_plain(tmp_path, [task(), task(index=1)]))
    assert benchmark("tau_bench").about.cluster == "customer"
    assert one.labels == {"domain": "retail", "customer": "ana_1"}


def test_a_task_that_is_not_as_it_should_be_is_told_with_its_place(tmp_path: Path) -> None:
    write_plain(tmp_path, [task(), task(index=1, actions="none")])
    with pytest.raises(DatasetError, match=r"retail_test_tasks\.jsonl, line 2: Row 1: .*actions"):
        samples("tau_bench", tmp_path)


def test_a_domain_without_tools_here_is_told(tmp_path: Path) -> None:
    write_plain(tmp_path)
    (tmp_path / "retail_test_tasks.jsonl").write_text("")
    row = str(task("telecom")).replace("'", '"')
    (tmp_path / "telecom_test_tasks.jsonl").write_text(row + "\n")
    with pytest.raises(DatasetError, match="of the domain 'telecom', not of airline or retail"):
        samples("tau_bench", tmp_path)


def test_a_missing_table_is_told(tmp_path: Path) -> None:
    write_plain(tmp_path)
    (tmp_path / "retail_orders.json.gz").unlink()
    with pytest.raises(DatasetError, match=r"holds no retail_orders\.json"):
        samples("tau_bench", tmp_path)


def test_a_torn_table_is_told(tmp_path: Path) -> None:
    file = write_plain(tmp_path) / "retail_orders.json.gz"
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(DatasetError, match=r"retail_orders\.json\.gz"):
        samples("tau_bench", tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("tasks_test.py", "TASKS = [Task(actions=[open('/etc/passwd')])]", "line 1 is not a literal"),
        ("tasks_test.py", "TASKS = 1", "no list of tasks"),
        ("tasks_test.py", "TASKS = [", r"tasks_test\.py"),
        ("tasks_test.py", "TASKS = [Task(user_id='x')]", "task 0: .*instruction"),
        ("tasks_test.py", "TASKS = [1]", "task 0"),
        ("tools/think.py", "class Other: ...", "no schema of Think"),
    ],
)
def test_python_that_is_no_data_is_told(tmp_path: Path, file: str, text: str, told: str) -> None:
    (write_checkout(tmp_path) / "tau_bench/envs/retail" / file).write_text(text)
    with pytest.raises(DatasetError, match=told):
        samples("tau_bench", tmp_path)


def test_a_split_without_tasks_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no dev rows of tau_bench"):
        samples("tau_bench", write_plain(tmp_path), {"split": "dev"})


def test_airline_has_no_dev_tasks(real_rows: Path) -> None:
    with pytest.raises(DatasetError, match="no dev tasks of the domain airline"):
        samples("tau_bench", real_rows / "tau_bench", {"split": "dev", "domain": "airline"})


def test_a_wrong_choice_is_told() -> None:
    with pytest.raises(UserError, match="--option domain is one of all, airline, retail"):
        benchmark("tau_bench", {"domain": "telecom"})


def test_what_departs_from_the_protocol_is_said() -> None:
    assert benchmark("tau_bench", roles=["user"]).departures == ()
    alone, of_dev = benchmark("tau_bench", {"split": "dev"}).departures
    assert alone.startswith("the model plays the simulated user itself")
    assert of_dev == "the tasks of dev in place of test"
    assert benchmark("tau_bench:documented").departures == ()
