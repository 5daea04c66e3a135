"""Tasks as they are read: what they ask for, what cannot be done here, and what must not be in their folders."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as bounds
from hypothesis import strategies as st
from tests.catalog.terminal_bench.terminal_kit import (
    HELLO,
    first,
    harbor,
    official_harbor,
    read,
    source,
    write_first,
    write_harbor,
)

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.network_rules import SEALED_NETWORK_DEPARTURE
from benchwright.catalog.harbor import settings_reader as harbor_layout
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.sealed_testing import SEALED_DEPARTURE
from benchwright.catalog.harbor.settings import Artifact, Step, TaskSettings, settings_or_problem
from benchwright.catalog.registry import find_about
from benchwright.catalog.registry import make_benchmark as make_one
from benchwright.catalog.terminal_bench import version_1 as first_layout
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH, TERMINAL_BENCH_1
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetError
from benchwright.errors import UserError


def harbor_settings(root: Path, **sections: str) -> TaskSettings:
    """The settings of a task of 2.0 with these tables."""
    write_harbor(root, sections={"environment": "", "agent": "", "verifier": "", **sections})
    (sample,) = read(root)
    return settings_of(sample)


def first_settings(root: Path, compose: Any, **task: Any) -> TaskSettings:
    """The settings of a task of 1.0 with this compose file."""
    text = compose if isinstance(compose, str) else json.dumps(compose)
    write_first(root, compose=text, task=task)
    (sample,) = read(root, TERMINAL_BENCH_1)
    return settings_of(sample)


def client(**keys: Any) -> dict[str, Any]:
    """A compose file with these keys of the agent's container."""
    return {"services": {"client": {"build": ".", **keys}}}


def test_a_harbor_task_is_read_with_its_limits_and_labels(tmp_path: Path) -> None:
    write_harbor(
        tmp_path,
        sections={
            "agent": "timeout_sec = 900.0",
            "verifier": "timeout_sec = 1200",
            "environment": 'docker_image = "a/b:1"\ncpus = 2\nmemory = "4G"\nstorage = "20G"\nbuild_timeout_sec = 30.0',
        },
    )
    (sample,) = read(tmp_path)
    assert (sample.id, sample.content["task"], sample.content["instruction"]) == (
        "hello-world",
        "hello-world",
        f"{HELLO}\n",
    )
    assert sample.labels == {"difficulty": "easy", "category": "file-operations"}
    assert settings_of(sample) == TaskSettings(
        image="a/b:1",
        build_seconds=30.0,
        cpus=2.0,
        memory_mb=4096,
        storage_mb=20480,
        steps=(Step(agent_seconds=900.0, test_seconds=1200.0, artifacts=[Artifact("/logs/artifacts")]),),
    )


def test_a_harbor_task_that_says_nothing_has_harbors_defaults(tmp_path: Path) -> None:
    settings = harbor_settings(tmp_path)
    (step,) = settings.steps
    assert (
        step.agent_seconds,
        step.test_seconds,
        settings.cpus,
        settings.memory_mb,
        settings.storage_mb,
        settings.network,
    ) == (
        None,
        600.0,
        1.0,
        2048,
        10240,
        True,
    )


@pytest.mark.parametrize(
    ("line", "network"),
    [
        ("allow_internet = true", True),
        ("allow_internet = false", False),
        ('network_mode = "public"', True),
        ('network_mode = "no-network"', False),
    ],
)
def test_the_file_opens_or_closes_the_network(tmp_path: Path, line: str, network: bool) -> None:
    assert harbor_settings(tmp_path, environment=line).network is network


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"environment": "gpus = 1"}, "[environment] gpus"),
        ({"environment": 'network_mode = "some"'}, "network_mode"),
        ({"environment": "mcp_servers = [{name = 'x'}]"}, "[environment] mcp_servers"),
        ({"environment": "cpus = -1"}, "[environment] cpus"),
        ({"environment": 'memory = "lots"'}, "[environment] memory"),
        ({"environment": "storage_mb = 99999999"}, "[environment] storage_mb"),
        ({"environment": 'env = {KEY = "${SECRET}"}'}, "[environment.env] KEY"),
        ({"verifier": "timeout_sec = 0.0"}, "[verifier] timeout_sec"),
        ({"verifier": "timeout_sec = nan"}, "[verifier] timeout_sec"),
        ({"steps": "x = 1"}, "steps"),
        ({"something_new": "x = 1"}, "something_new"),
    ],
)
def test_what_cannot_be_done_for_a_harbor_task_is_named(
    tmp_path: Path, sections: dict[str, str], named: str
) -> None:
    problem = harbor_settings(tmp_path, **sections).problem
    assert problem is not None
    assert named in problem
    assert "\n" not in problem


def test_keys_that_are_empty_ask_for_nothing(tmp_path: Path) -> None:
    environment = "gpus = 0\nmcp_servers = []\nos = 'linux'\nenv = {A = '${B:-c}'}"
    settings = harbor_settings(tmp_path, environment=environment)
    assert (settings.problem, settings.environment) == (None, {"A": "c"})


def test_a_task_of_1_0_is_read_with_its_limits_and_its_compose_file(tmp_path: Path) -> None:
    write_first(tmp_path)
    (sample,) = read(tmp_path, TERMINAL_BENCH_1)
    settings = settings_of(sample)
    assert (sample.id, sample.content["task"]) == ("hello-world", "tasks/hello-world")
    assert settings.environment == {"TEST_DIR": "/tests"}
    assert (settings.image, settings.build is not None, settings.command, settings.neighbours) == (
        None,
        True,
        [],
        [],
    )
    assert (settings.network, settings.steps[0].test_user, settings.parser) == (True, "0", "pytest")


def test_the_original_hello_world_is_read(real_rows: Path, tmp_path: Path) -> None:
    original = real_rows / "terminal_bench" / "tb1_hello_world" / "task.yaml"
    write_first(tmp_path, files={"task.yaml": original.read_text()})
    (sample,) = read(tmp_path, TERMINAL_BENCH_1)
    settings = settings_of(sample)
    assert sample.content["instruction"].startswith("Create a file called /app/hello.txt.")
    assert (sample.labels["difficulty"], settings.steps[0].agent_seconds, settings.steps[0].test_seconds) == (
        "easy",
        900.0,
        180.0,
    )


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"privileged": True}, "privileged"),
        ({"cap_add": ["SYS_ADMIN"]}, "cap_add"),
        ({"devices": ["/dev/kvm"]}, "devices"),
        ({"pid": "host"}, "pid"),
        ({"env_file": "secrets"}, "env_file"),
        ({"network_mode": "host"}, "network_mode"),
        ({"volumes": ["/:/host"]}, "volumes"),
        ({"volumes": ["./data:/data"]}, "volumes"),
        ({"volumes": [{"type": "bind", "source": "/etc", "target": "/e"}]}, "volumes"),
        ({"build": {"context": ".", "secrets": ["key"]}}, "build.secrets"),
        ({"build": {"context": "../.."}}, "build"),
        ({"build": {"context": ".", "dockerfile": "/etc/shadow"}}, "build"),
        ({"mem_limit": "1"}, "memory"),
        ({"depends_on": ["nobody"]}, "nobody"),
        ({"depends_on": {"client": {"condition": "service_completed_successfully"}}}, "depends_on"),
        ({"networks": {"default": 1}}, "compose"),
        ({"something_new": 1}, "something_new"),
    ],
)
def test_what_cannot_be_done_for_a_compose_file_is_named(
    tmp_path: Path, keys: dict[str, Any], named: str
) -> None:
    problem = first_settings(tmp_path, client(**keys)).problem
    assert problem is not None
    assert named in problem
    assert "docker-compose.yaml" in problem


KEYS = st.sampled_from(
    ["build", "image", "command", "environment", "networks", "depends_on", "volumes", "healthcheck", "deploy"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.dictionaries(KEYS, VALUES, max_size=4))
@bounds(max_examples=60, deadline=None)
def test_no_compose_file_is_more_than_a_problem(
    tmp_path_factory: pytest.TempPathFactory, agent: dict[str, Any], other: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("compose")
    (folder / "docker-compose.yaml").write_text(json.dumps({"services": {"client": agent, "other": other}}))
    read = settings_or_problem(first_layout.read_settings, {}, folder)
    assert "\n" not in (read.problem or "")
    assert [one.name for one in read.neighbours] == ([] if read.problem else ["other"])


@given(st.dictionaries(st.sampled_from(["environment", "agent", "verifier", "solution", "steps"]), VALUES))
def test_no_task_toml_is_more_than_a_problem(toml: dict[str, Any]) -> None:
    read = settings_or_problem(harbor_layout.read_settings, toml, Path("nowhere"))
    assert read.problem is None or "task.toml" in read.problem


def test_what_only_concerns_this_machine_is_passed_over(tmp_path: Path) -> None:
    keys = {"ports": ["80:80"], "restart": "always", "volumes": ["logs:/logs", "/agent-logs"], "x-note": 1}
    assert first_settings(tmp_path, client(**keys)).problem is None


def test_a_compose_file_may_close_the_network(tmp_path: Path) -> None:
    closed = client(networks=["inside"]) | {"networks": {"inside": {"internal": True}}}
    assert [
        first_settings(tmp_path / "a", client(network_mode="none")).network,
        first_settings(tmp_path / "b", closed).network,
        first_settings(tmp_path / "c", client()).network,
    ] == [False, False, True]


def test_limits_arguments_and_variables_of_a_compose_file_are_taken(tmp_path: Path) -> None:
    settings = first_settings(
        tmp_path,
        client(
            build={"context": "client", "dockerfile": "Other", "args": ["A=1"], "target": "last"},
            command=["bash", "-c", "serve & sleep 5; echo $$HOME ${NOBODY_SET:-default} ${T_BENCH_TEST_DIR}"],
            environment={"ON": True, "FROM_HOST": None},
            deploy={"resources": {"limits": {"cpus": "2.5", "memory": "3G"}}},
        ),
    )
    assert settings.build is not None
    assert (
        settings.build.context,
        settings.build.dockerfile,
        settings.build.arguments,
        settings.build.target,
    ) == (
        "client",
        "Other",
        {"A": "1"},
        "last",
    )
    assert settings.command[-1] == "serve & sleep 5; echo $HOME default /tests"
    assert (settings.environment, settings.cpus, settings.memory_mb) == ({"ON": "true"}, 2.5, 3072)


def test_services_are_started_after_those_that_they_depend_on(tmp_path: Path) -> None:
    check = {"test": "true", "interval": "1m30s", "retries": 2}
    services = {
        "client": {"build": ".", "depends_on": {"web": {"condition": "service_healthy"}}},
        "web": {"image": "web:1", "depends_on": ["base"], "healthcheck": check, "container_name": "w"},
        "base": {"build": "base", "networks": {"default": {"aliases": ["db"]}}},
    }
    base, web = first_settings(tmp_path, {"services": services}).neighbours
    assert (base.name, base.names, base.waits_for_health) == ("base", ["base", "db"], False)
    assert (web.names, web.image, web.waits_for_health) == (["web", "w"], "web:1", True)
    assert web.health is not None
    assert (web.health["Test"], web.health["Interval"]) == (["CMD-SHELL", "true"], 90_000_000_000)


def test_services_that_depend_on_each_other_in_a_circle_are_refused(tmp_path: Path) -> None:
    services = {"client": {"build": ".", "depends_on": ["a"]}, "a": {"image": "a", "depends_on": ["client"]}}
    problem = first_settings(tmp_path, {"services": services}).problem
    assert problem is not None
    assert "circle" in problem


def test_a_parser_that_is_not_known_is_named(tmp_path: Path) -> None:
    problem = first_settings(tmp_path, client(), parser_name="mlebench").problem
    assert problem is not None
    assert "'mlebench'" in problem
    assert "pytest" in problem


def test_a_task_of_1_0_needs_no_compose_file(tmp_path: Path) -> None:
    write_first(tmp_path, compose=None)
    (sample,) = read(tmp_path, TERMINAL_BENCH_1)
    assert settings_of(sample).environment == {"TEST_DIR": "/tests"}


@pytest.mark.parametrize(
    "changed", ["environment/Dockerfile", "tests/test.sh", "instruction.md", "solution/solve.sh", "new"]
)
def test_any_change_of_a_tasks_folder_makes_another_conversation(tmp_path: Path, changed: str) -> None:
    folder = write_harbor(tmp_path, files={"environment/Dockerfile": "FROM scratch\n"})
    (before,) = read(tmp_path)
    with (folder / changed).open("a") as file:
        file.write("# changed\n")
    (after,) = read(tmp_path)
    assert before.content != after.content


def test_samples_stay_small_whatever_lies_in_their_folders(tmp_path: Path) -> None:
    write_harbor(tmp_path, files={"environment/big": "x" * 3_000_000, "tests/big": "y" * 3_000_000})
    (sample,) = read(tmp_path)
    assert len(json.dumps(sample.content)) < 4000


def test_a_tasks_solution_and_tests_are_not_in_its_sample(tmp_path: Path) -> None:
    write_harbor(tmp_path, solution="echo the secret", test="#!/bin/sh\necho the hidden\n")
    (sample,) = read(tmp_path)
    assert not {"secret", "hidden"} & set(json.dumps(sample.content).replace('"', " ").split())


def _link_out(folder: Path) -> None:
    (folder / "tests" / "link").symlink_to("/etc/passwd")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "environment-pipe")


def _instruction_link(folder: Path) -> None:
    (folder / "instruction.md").unlink()
    (folder / "instruction.md").symlink_to("/etc/passwd")


def _no_instruction(folder: Path) -> None:
    (folder / "instruction.md").unlink()


def _no_toml(folder: Path) -> None:
    (folder / "task.toml").write_text("[agent\n")


def _deep_toml(folder: Path) -> None:
    (folder / "task.toml").write_text("a = " + "[" * 100_000)


def _no_text(folder: Path) -> None:
    (folder / "task.toml").write_bytes(b"\xff\xfe")


def _long(folder: Path) -> None:
    (folder / "instruction.md").write_text("x" * 2**21)


def _huge(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(5 * 2**30)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (_link_out, "link"),
        (_pipe, "environment-pipe"),
        (_instruction_link, "instruction.md"),
        (_no_instruction, "instruction.md"),
        (_no_toml, "task.toml"),
        (_no_text, "task.toml"),
        (_deep_toml, "task.toml"),
        (_long, "instruction.md"),
        (_huge, "4 GiB"),
    ],
)
def test_a_folder_that_is_no_honest_task_is_told_in_one_line(tmp_path: Path, spoil: Any, named: str) -> None:
    spoil(write_harbor(tmp_path))
    with pytest.raises(DatasetError) as raised:
        read(tmp_path)
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_that_lies_elsewhere_is_refused(tmp_path: Path) -> None:
    outside = write_harbor(tmp_path / "outside")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "task").symlink_to(outside)
    with pytest.raises(DatasetError, match="leads out of"):
        read(tmp_path / "tasks")


def test_links_within_a_task_are_fine(tmp_path: Path) -> None:
    folder = write_harbor(tmp_path)
    (folder / "tests" / "same.sh").symlink_to("test.sh")
    assert len(read(tmp_path)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "instruction: [",
        "no_instruction: 1",
        "- a list",
        "!!python/object/apply:os.system ['touch /tmp/owned']",
        "a: &a [x]\n" + "b: [" + "*a, " * 30 + "]",
        "a: " + "[" * 5000,
        "a: " + "x" * 300_000,
    ],
)
def test_a_task_yaml_that_is_none_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    write_first(tmp_path, files={"task.yaml": text})
    with pytest.raises(DatasetError, match=r"task\.yaml") as raised:
        read(tmp_path, TERMINAL_BENCH_1)
    assert "\n" not in str(raised.value)


def test_the_solution_is_run_by_one_command_unless_the_task_has_more_time_than_a_command(
    tmp_path: Path,
) -> None:
    write_harbor(tmp_path, sections={"agent": "timeout_sec = 100.0"})
    benchmark, tasks = harbor(), source(tmp_path)
    (sample,) = benchmark.samples(tasks)
    gold, nothing = benchmark.checks(sample)
    assert (gold.passes, len(gold.replies), nothing.passes) == (True, 2, False)
    waiting = harbor(command_seconds="30")
    list(waiting.samples(tasks))
    gold, _ = waiting.checks(sample)
    assert len(gold.replies) == 1 + 4 + 1


def test_what_types_into_a_program_is_typed_by_tmux(tmp_path: Path) -> None:
    keys = [
        {"command": "vim /app/hello.txt", "block": False, "min_timeout_sec": 0.5},
        {"command": "iHello", "append_enter": False, "block": False},
    ]
    write_first(tmp_path, files={"solution.sh": None, "solution.yaml": json.dumps(keys)})
    benchmark = first()
    (sample,) = benchmark.samples(source(tmp_path, TERMINAL_BENCH_1))
    gold, _ = benchmark.checks(sample)
    command = json.loads(gold.replies[0]["tool_calls"][0]["function"]["arguments"])["command"]
    assert command.splitlines()[1:] == [
        "tmux send-keys -t oracle 'vim /app/hello.txt' Enter; sleep 0.5",
        "tmux send-keys -t oracle iHello; sleep 0",
    ]


def test_options_that_change_what_is_measured_are_departures() -> None:
    assert list(harbor().departures) == [SEALED_DEPARTURE, SEALED_NETWORK_DEPARTURE]
    assert list(official_harbor().departures) == []
    assert len(official_harbor(network="none", max_turns="10", command_seconds="60").departures) == 3
    with pytest.raises(UserError, match="network"):
        harbor(network="some")


def test_the_metadata_says_what_the_tasks_are() -> None:
    assert (TERMINAL_BENCH.full_name, TERMINAL_BENCH.items, TERMINAL_BENCH.tier) == ("terminal_bench", 89, 4)
    assert (TERMINAL_BENCH_1.full_name, TERMINAL_BENCH_1.items) == ("terminal_bench:1.0", 80)


@pytest.mark.parametrize(("version", "items"), [("2.1", 89), ("3.0", 74), ("4.0", 66)])
def test_later_versions_are_read_as_they_are_fetched(tmp_path: Path, version: str, items: int) -> None:
    metadata = find_about(f"terminal_bench:{version}")
    assert (metadata.items, metadata.dataset.licence) == (items, "Apache-2.0")
    assert re.fullmatch(r"[0-9a-f]{40}", metadata.dataset.revision or "")
    write_harbor(tmp_path / f"terminal_bench:{version}" / "tasks")
    found = find_dataset(metadata.dataset, tmp_path, offline=True)
    benchmark = make_one(metadata, Options())
    assert [sample.id for sample in benchmark.samples(found)] == ["hello-world"]


def test_the_input_is_the_instruction_and_the_target_that_the_tests_pass(tmp_path: Path) -> None:
    write_harbor(tmp_path)
    (sample,) = read(tmp_path)
    assert ((sample.input or "").strip(), sample.target) == (HELLO, "the task's own tests pass")
