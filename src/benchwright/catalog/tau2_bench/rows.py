"""The format of tau2-bench's tasks, and their conversion into samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchwright.catalog.tau2_bench.about import POLICY_VERSIONS
from benchwright.catalog.tau2_bench.environment import DomainFiles, domain_of
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetParseError, DatasetValidationError
from benchwright.records import DECODE_ERRORS, Record, Sample

RewardPart = Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]
"""A part of a task's reward, by its name in the authors' data."""


class Action(Record, frozen=True):
    """A right tool call. `compare_args`: names of the arguments to compare.

    If `compare_args` is None, all arguments of the graded call are compared.
    """

    name: str
    arguments: dict[str, Any]
    requestor: Literal["assistant", "user"] = "assistant"
    compare_args: list[str] | None = None


class Assertion(Record, frozen=True):
    """A condition on the final environment: a function of a toolkit, and its expected result.

    The toolkit is the agent's or the user's.
    """

    env_type: Literal["assistant", "user"]
    func_name: str
    arguments: dict[str, Any]
    assert_value: bool = True


class Criteria(Record, frozen=True):
    """The criteria for a task's reward, the product of the parts in `reward_basis` (data_model/tasks.py)."""

    actions: list[Action] | None = None
    env_assertions: list[Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: tuple[RewardPart, ...] = ("DB", "COMMUNICATE")


class Scenario(Record, frozen=True):
    """The simulated user's identity and goal."""

    instructions: str | dict[str, Any]
    persona: str | None = None


class PromptOptions(Record, frozen=True):
    """The options of a run that change the prompts, and are therefore stored in the samples.

    `retrieval`: the retrieval method for the documents of banking_knowledge. `solo`: True if the agent works
    without a user. `policy`: the version of telecom's policy.
    """

    split: str
    retrieval: str
    solo: bool = False
    policy: str = POLICY_VERSIONS[0]


class TaskRow(Record, frozen=True):
    """The fields of a task that Benchwright reads. The authors' code gets the whole task."""

    id: str
    user_scenario: Scenario
    evaluation_criteria: Criteria | None = None


def samples(
    source: Source, domains: Sequence[str], settings: PromptOptions, files: DomainFiles
) -> Iterator[Sample]:
    """Yield one sample per task in the chosen split, domain by domain.

    Raises:
        DatasetError: If a domain has no tasks in the split, or a task is invalid.
    """
    files.set_source(source)
    by_domain: dict[str | None, list[Path]] = {}
    for file in source.files("test"):
        by_domain.setdefault(domain_of(file), []).append(file)
    for domain in domains:
        wanted = _wanted(source, domain, settings.split)
        rows = [row for file in by_domain.get(domain, ()) for row in _rows(file)]
        chosen = [(row, raw) for row, raw in rows if wanted is None or row.id in wanted]
        if settings.solo:
            chosen = [(row, raw) for row, raw in chosen if is_solo_task(raw)]
        if not chosen:
            raise DatasetNotFound(f"{source.root} holds no {settings.split} tasks of the domain {domain}")
        world = {
            "world": files.domain_digest(domain),
            "retrieval": settings.retrieval if domain == "banking_knowledge" else None,
            "solo": settings.solo,
            "policy": settings.policy
            if domain == "telecom" and settings.policy != POLICY_VERSIONS[0]
            else None,
        }
        yield from (_sample(domain, row, raw, world) for row, raw in chosen)


def is_solo_task(task: dict[str, Any]) -> bool:
    """Return True if an agent without a user can do the task (`check_valid_task` of LLMSoloAgent)."""
    state = task.get("initial_state")
    if state is not None:
        history = state.get("message_history") or []
        return all(said["role"] == "tool" or bool(said.get("tool_calls")) for said in history) and not any(
            said["role"] == "user" for said in history
        )
    return task.get("ticket") is not None and bool((task.get("evaluation_criteria") or {}).get("actions"))


def criteria_of(task: dict[str, Any]) -> Criteria | None:
    """Return the criteria for a task's reward. Return None if the conversation only has to end regularly."""
    return msgspec.convert(task, TaskRow).evaluation_criteria


def _wanted(source: Source, domain: str, split: str) -> set[str] | None:
    """Return the ids of the tasks in a split.

    Return None if the domain has no splits, so that all its tasks are selected.
    """
    listed = source.files("splits") if "splits" in source.splits else []
    for file in listed:
        if domain_of(file) == domain:
            return set(_decoded(file, dict[str, list[str]]).get(split, ()))
    return None if split == "base" else set()


def _rows(file: Path) -> Iterator[tuple[TaskRow, dict[str, Any]]]:
    """Yield the tasks of a file, each both parsed and raw. The file contains a list of tasks or a single task."""
    rows = _decoded(file, list[dict[str, Any]] | dict[str, Any])
    for index, raw in enumerate(rows if isinstance(rows, list) else [rows]):
        try:
            yield msgspec.convert(raw, TaskRow), raw
        except msgspec.ValidationError as error:
            raise DatasetValidationError(f"{file}: task {index}: {error}") from error


def _decoded(file: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except msgspec.ValidationError as error:
        raise DatasetValidationError(f"{file}: {error}") from error
    except (*DECODE_ERRORS, OSError) as error:
        raise DatasetParseError(f"{file}: {error}") from error


def _sample(domain: str, row: TaskRow, raw: dict[str, Any], world: dict[str, Any]) -> Sample:
    content = {"domain": domain, "task": raw, **world}
    return Sample(
        f"tau2_{domain}_{row.id}",
        content,
        labels={"domain": domain},
        input=_told_to_the_user(row.user_scenario),
        target=_target(row.evaluation_criteria),
    )


def _told_to_the_user(scenario: Scenario) -> str:
    given = scenario.instructions
    texts = [given] if isinstance(given, str) else [str(text) for text in given.values() if text]
    return "\n".join([*([scenario.persona] if scenario.persona else []), *texts])


def _target(criteria: Criteria | None) -> str:
    """Return a sample's target as text: the reward basis, then all right actions, one per line."""
    if criteria is None:
        return "an end"
    lines = [" × ".join(criteria.reward_basis) or "an end"]
    for action in criteria.actions or []:
        arguments = json.dumps(action.arguments, ensure_ascii=False)
        lines.append(f"{action.requestor}: {action.name}({arguments})")
    lines += [
        f"in the end: {one.func_name}({json.dumps(one.arguments)}) is {one.assert_value}"
        for one in criteria.env_assertions or []
    ]
    lines += [f"tells the user: {text}" for text in criteria.communicate_info or []]
    return "\n".join([*lines, *(f"is judged: {text}" for text in criteria.nl_assertions or [])])
