"""task.toml as it is read: every field of the format is done, or refused by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.harbor.harbor_kit import ENVIRONMENT, samples, settings, write_task

from benchwright.catalog.harbor.settings import Artifact, CollectCommand, HealthCheck, Step
from benchwright.catalog.registry import find_about
from benchwright.errors import UserError

SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'
COMPOSE = """\
services:
  main:
    build: ${CONTEXT_DIR}
    deploy: {resources: {limits: {cpus: "${CPUS}", memory: "${MEMORY}"}}}
    volumes: ["${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}"]
  store:
    image: store:1
"""


def step(root: Path) -> Step:
    """The only step of the only task."""
    (only,) = settings(root).steps
    return only


def steps_of(names: list[str], **tables: str) -> str:
    """`[[steps]]` with these names, and these further lines in some of them."""
    return "".join(f'[[steps]]\nname = "{name}"\n{tables.get(name, "")}\n' for name in names)


def with_steps(*names: str) -> dict[str, str | None]:
    """The folders of these steps."""
    return {f"steps/{name}/instruction.md": f"Do {name}.\n" for name in names}


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("gpus = 2", "[environment] gpus = 2 is not supported: containers get no GPU here"),
        ('os = "Windows"', "[environment] os = 'Windows'"),
        ('tpu = {type = "v6e", topology = "2x4"}', "[environment] tpu"),
        ('mcp_servers = [{name = "x", url = "http://x"}]', "[environment] mcp_servers"),
        ('skills_dir = "/skills"', "[environment] skills_dir"),
        (
            'allowed_hosts = ["10.0.0.1"]',
            "[environment] network_mode = 'no-network' contradicts allowed_hosts",
        ),
        ('memory = "1G"', "memory and memory_mb contradict each other"),
        ('healthcheck = {command = "true", retries = 0}', "[environment.healthcheck]"),
        (
            '[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["10.0.0.1"]',
            "[agent] allowed_hosts: '10.0.0.1' is an address in place of a name",
        ),
        (
            '[agent]\nnetwork_mode = "public"\nallowed_hosts = ["example.com"]',
            "[agent] network_mode = 'public' contradicts allowed_hosts",
        ),
        ('[agent]\nnetwork_mode = "some"', "[agent] network_mode = 'some'"),
        ('[agent]\ntimeout_sec = "soon"', "[agent] timeout_sec: expected `float`"),
        ("[agent]\nturns = 5", "[agent] turns is not known here"),
        ('[verifier]\nenvironment_mode = "apart"', "[verifier] environment_mode = 'apart'"),
        ('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1', "contradicts"),
        ('[verifier.env]\nKEY = "${KEY}"', "[verifier.env] KEY refers to ${KEY} of this machine"),
        ('[[verifier.collect]]\ncommand = "true"\nservice = "db"', "there is no service 'db'"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_name(tmp_path: Path, toml: str, named: str) -> None:
    write_task(tmp_path, "task", toml)
    problem = settings(tmp_path).problem
    assert problem is not None
    assert named in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ('artifacts = ["out"]', "'out' must be an absolute path"),
        ('artifacts = ["/app/../etc"]', "must be an absolute path"),
        ('artifacts = [{source = "/x", service = "db"}]', "there is no service 'db'"),
        ("steps = [{name = '../x'}]", "'../x' is not a name of a folder"),
        ("multi_step_reward_strategy = 'best'", "multi_step_reward_strategy = 'best'"),
        ("reward_kit = 1", "reward_kit is not known here"),
    ],
)
def test_so_is_what_stands_above_the_tables(tmp_path: Path, before: str, named: str) -> None:
    write_task(tmp_path, "task", before=before)
    assert named in (settings(tmp_path).problem or "")


@pytest.mark.parametrize("name", [".harborignore", "trajectory.json"])
def test_so_are_files_that_change_what_a_task_is(tmp_path: Path, name: str) -> None:
    write_task(tmp_path, "task", files={name: "{}"})
    assert name in (settings(tmp_path).problem or "")


def test_a_task_without_tests_is_refused(tmp_path: Path) -> None:
    write_task(tmp_path, "task", files={"tests/test.sh": None})
    assert "tests/test.sh" in (settings(tmp_path).problem or "")


def test_the_fields_of_a_task_with_one_step_are_taken(tmp_path: Path) -> None:
    write_task(
        tmp_path,
        "task",
        """
env = {NAME = "${NOBODY_SET:-default}"}
[environment.healthcheck]
command = "curl -f localhost"
interval_sec = 1
start_period_sec = 20
retries = 7
[agent]
timeout_sec = 30
user = 1000
network_mode = "public"
[verifier]
timeout_sec = 40
user = "root"
network_mode = "no-network"
env = {SEED = "1"}
[[verifier.collect]]
command = "pg_dump > /dump"
timeout_sec = 5
user = "postgres"
[solution.env]
ANSWER = "42"
""",
    )
    task = settings(tmp_path)
    assert task.problem is None
    assert task.environment == {"NAME": "default"}
    assert task.health == HealthCheck("curl -f localhost", interval=1.0, start_period=20.0, retries=7)
    assert task.solution_environment == {"ANSWER": "42"}
    assert task.steps == (
        Step(
            agent_seconds=30.0,
            agent_user="1000",
            agent_network=True,
            test_seconds=40.0,
            test_user="root",
            test_network=False,
            test_environment={"SEED": "1"},
            collect=[CollectCommand("pg_dump > /dump", seconds=5.0, user="postgres")],
            artifacts=[Artifact("/logs/artifacts")],
        ),
    )


def test_tests_of_their_own_container_have_a_copy_of_the_environment(tmp_path: Path) -> None:
    write_task(tmp_path, "task", f'{SEPARATE}network_mode = "public"\n', before='artifacts = ["/app/out"]')
    main, only = settings(tmp_path), step(tmp_path)
    assert only.verifier is not None
    assert (only.verifier.image, only.verifier.network, only.tests) == (main.image, True, ("tests",))
    assert only.artifacts == [Artifact("/logs/artifacts"), Artifact("/app/out")]


def test_an_environment_of_the_tests_makes_their_container_one_of_their_own(tmp_path: Path) -> None:
    write_task(tmp_path, "task", '[verifier.environment]\ncpus = 2\ndocker_image = "tests:1"\n')
    only = step(tmp_path)
    assert only.verifier is not None
    assert (only.verifier.image, only.verifier.cpus, only.tests) == ("tests:1", 2.0, ())


def test_a_dockerfile_beside_the_tests_is_what_their_container_is_built_from(tmp_path: Path) -> None:
    write_task(tmp_path, "task", SEPARATE, files={"tests/Dockerfile": "FROM x\n", "tests/test.sh": None})
    only = step(tmp_path)
    assert only.verifier is not None
    assert only.verifier.build is not None
    assert (only.verifier.image, only.verifier.build.context, only.tests) == (None, "tests", ())


def test_a_step_has_what_the_task_says_where_it_says_nothing(tmp_path: Path) -> None:
    write_task(
        tmp_path,
        "task",
        "[agent]\ntimeout_sec = 70\nuser = 'dev'\n[verifier]\ntimeout_sec = 80\nuser = 'root'\nenv = {A = '1'}\n"
        + steps_of(
            ["plan", "build"],
            build="min_reward = {speed = 0.5}\nartifacts = ['/b']\nagent = {timeout_sec = 5}\n"
            "verifier = {user = 'nobody', env = {B = '2'}, environment_mode = 'separate'}",
        ),
        before="artifacts = ['/a']\nmulti_step_reward_strategy = 'final'",
        files={**with_steps("plan", "build"), "steps/build/tests/more.sh": ""},
    )
    task = settings(tmp_path)
    plan, build = task.steps
    assert (task.problem, task.rewards) == (None, "final")
    assert (plan.agent_seconds, plan.agent_user, plan.test_user, plan.verifier) == (70.0, "dev", "root", None)
    assert (build.agent_seconds, build.agent_user, build.test_user) == (5.0, "dev", "nobody")
    assert (plan.test_seconds, build.test_seconds) == (600.0, 600.0), "a step's own default, as in Harbor"
    assert (plan.test_environment, build.test_environment) == ({"A": "1"}, {"A": "1", "B": "2"})
    assert [one.source for one in build.artifacts] == ["/logs/artifacts", "/a", "/b"]
    assert (plan.least, build.least) == ({}, {"speed": 0.5})
    assert (plan.tests, build.tests) == (("tests",), ("tests", "steps/build/tests"))
    assert build.verifier is not None


def test_steps_are_asked_one_after_the_other(tmp_path: Path) -> None:
    write_task(tmp_path, "task", steps_of(["one", "two"]), files=with_steps("one", "two"))
    (sample,) = samples(tmp_path)
    assert sample.content["instructions"] == ["Do one.\n", "Do two.\n"]
    assert sample.input == "Do one.\n\n\nDo two.\n"


def test_two_steps_of_one_name_are_refused(tmp_path: Path) -> None:
    write_task(tmp_path, "task", steps_of(["one", "One"]), files=with_steps("one", "One"))
    assert "'One'" in (settings(tmp_path).problem or "")


def test_what_harbor_puts_into_compose_files_is_known(tmp_path: Path) -> None:
    toml = 'cpus = 2\n[[verifier.collect]]\ncommand = "dump"\nservice = "store"\n'
    folder = write_task(tmp_path, "task", toml, before='artifacts = [{source = "/d", service = "store"}]')
    (folder / "environment").mkdir()
    (folder / "environment" / "docker-compose.yaml").write_text(COMPOSE)
    task = settings(tmp_path)
    (only,) = task.steps
    assert task.problem is None
    assert (task.cpus, task.memory_mb, [one.name for one in task.neighbours]) == (2.0, 256, ["store"])
    assert only.collect == [CollectCommand("dump", service="store")]
    assert only.artifacts[1] == Artifact("/d", service="store")


def test_a_task_with_several_containers_has_one_network_in_all_phases(tmp_path: Path) -> None:
    folder = write_task(tmp_path, "task", '[agent]\nnetwork_mode = "public"\n')
    (folder / "environment").mkdir()
    (folder / "environment" / "docker-compose.yaml").write_text(COMPOSE)
    assert "[agent] network_mode" in (settings(tmp_path).problem or "")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("<!-- harbor-canary GUID 1 -->\n\nDo it.\n", "Do it.\n"),
        ("# Canary: keep out\n# canary 2\nDo it.\n", "Do it.\n"),
        ("# A heading\nDo it.\n", "# A heading\nDo it.\n"),
        ("Do it.\n# canary\n", "Do it.\n# canary\n"),
    ],
)
def test_marks_that_find_copies_are_no_part_of_an_instruction(tmp_path: Path, text: str, asked: str) -> None:
    write_task(tmp_path, "task", files={"instruction.md": text})
    (sample,) = samples(tmp_path)
    assert sample.content["instruction"] == asked


def test_tasks_are_found_at_any_depth_and_what_lies_in_a_task_is_none(tmp_path: Path) -> None:
    for place in ("a/x", "b/x", "y"):
        write_task(tmp_path, place, files={"environment/task.toml": ENVIRONMENT})
    assert [sample.id for sample in samples(tmp_path)] == ["a/x", "b/x", "y"]
    assert [sample.id for sample in samples(tmp_path / "y")] == ["y"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        find_about(f"harbor:{tmp_path / 'nowhere'}")
    with pytest.raises(UserError, match="harbor:PATH"):
        find_about("harbor:")
