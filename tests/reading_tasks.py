"""What Harbor makes of files task.toml: one line of JSON for each, null where it refuses the file.

Run by tests/readers.py in an environment that has Harbor (`.venv-readers`), on a folder of such files.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from harbor.models.task.config import NetworkPolicy, StepConfig, TaskConfig
from harbor.models.task.verifier_mode import resolve_effective_verifier_env_config
from pydantic import ValidationError


def main(folder: Path) -> int:
    warnings.simplefilter("ignore", DeprecationWarning)
    for path in sorted(folder.glob("*.toml")):
        print(json.dumps(read(path.read_text(encoding="utf-8"))))
    return 0


def read(text: str) -> dict[str, Any] | None:
    """What a file asks for, with our defaults where Harbor sets no bounds."""
    try:
        task = TaskConfig.model_validate_toml(text)
    except ValidationError:
        return None
    environment = task.environment
    return {
        "image": environment.docker_image,
        "cpus": environment.cpus or 1,
        "memory": environment.memory_mb or 2048,
        "variables": environment.env,
        "directory": environment.workdir or "",
        "steps": [step_of(task, step) for step in task.steps or [None]],
    }


def step_of(task: TaskConfig, step: StepConfig | None) -> dict[str, Any]:
    """What one step asks for; None is the only one of a task without steps."""
    agents = [step.agent, task.agent] if step else [task.agent]
    verifiers = [step.verifier, task.verifier] if step else [task.verifier]
    own = resolve_effective_verifier_env_config(task, step)
    baseline = task.environment.resolve_baseline()
    return {
        "name": step.name if step else "",
        "agent_seconds": first([one.timeout_sec for one in agents]),
        "test_seconds": verifiers[0].timeout_sec,
        "agent_user": str(first([one.user for one in agents], "")),
        "test_user": str(first([one.user for one in verifiers], "")),
        "agent_network": is_open(first([one.explicit_phase_policy() for one in agents], baseline)),
        "test_network": is_open(
            first(
                [one.explicit_phase_policy() for one in verifiers],
                own.resolve_baseline() if own else baseline,
            )
        ),
        "verifier": own and {"cpus": own.cpus or 1, "memory": own.memory_mb or 2048},
        "variables": task.verifier.env | (step.verifier.env if step else {}),
    }


def first(values: list[Any], default: Any = None) -> Any:
    """The first value that is one."""
    return next((value for value in values if value is not None), default)


def is_open(policy: NetworkPolicy) -> bool:
    return bool(policy.network_mode.value == "public")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
