"""Folders as SWE-agent 1.1 and mini-SWE-agent 2.4 write them, in which an agent has submitted patches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MODEL = "openai/some-model"
TASK = "Please solve this issue: it adds where it should subtract."
COMMAND = "sed -i s/+/-/ calculator.py"


def call(command: str = COMMAND) -> dict[str, Any]:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": command})},
    }


def usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    details = {"cached_tokens": cached}
    return {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}


def answer(content: str, used: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An answer of the model, as LiteLLM gives it and mini-SWE-agent keeps it."""
    response = {"object": "chat.completion", "usage": used, "choices": []}
    extra = {"actions": [], "response": response, "cost": 0.0, "timestamp": 1_795_000_000.5}
    return {"role": "assistant", "content": content, "tool_calls": None, "extra": extra, **fields}


def mini(
    folder: Path,
    instance: str,
    patch: str,
    status: str = "Submitted",
    messages: list[dict[str, Any]] | None = None,
) -> Path:
    """Writes a trajectory of mini-SWE-agent, and its line in preds.json; returns the folder."""
    middle = messages or [
        answer("", usage(100, 20, 60), tool_calls=[call()], reasoning_content="Subtract."),
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": "<returncode>0</returncode>",
            "extra": {"returncode": 0},
        },
        answer("Done.", usage(150, 10)),
    ]
    trajectory = {
        "info": {
            "model_stats": {"instance_cost": 0.0, "api_calls": 2},
            "config": {"model": {"model_name": MODEL}, "agent": {}},
            "mini_version": "2.4.6",
            "exit_status": status,
            "submission": patch,
        },
        "messages": [
            {"role": "system", "content": "You can use a shell."},
            {"role": "user", "content": TASK},
            *middle,
            {"role": "exit", "content": patch, "extra": {"exit_status": status, "submission": patch}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": instance,
    }
    place = folder / instance
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{instance}.traj.json").write_text(json.dumps(trajectory, indent=2))
    return predicted(folder, instance, patch)


def swe_agent(folder: Path, instance: str, patch: str | None, status: str = "submitted") -> Path:
    """Writes a trajectory of SWE-agent, and its entry in preds.json; returns the folder."""
    thinking = [{"type": "thinking", "thinking": "Subtract.", "signature": ""}]
    config = {"agent": {"model": {"name": MODEL}}, "problem_statement": {"text": "It adds.", "type": "text"}}
    trajectory = {
        "trajectory": [],
        "history": [
            {
                "role": "system",
                "content": "You can use a shell.",
                "agent": "main",
                "message_type": "system_prompt",
            },
            {"role": "user", "content": "Look, this is how it is done.", "is_demo": True, "agent": "main"},
            {"role": "user", "content": [{"type": "text", "text": TASK}], "agent": "main"},
            {
                "role": "assistant",
                "content": "I change the sign.",
                "thought": "I change the sign.",
                "action": COMMAND,
                "agent": "main",
                "tool_calls": [call()],
                "thinking_blocks": thinking,
            },
            {
                "role": "tool",
                "content": [{"type": "text", "text": "OBSERVATION: done"}],
                "tool_call_ids": ["call_1"],
            },
        ],
        "info": {
            "exit_status": status,
            "submission": patch,
            "swe_agent_version": "1.1.0",
            "model_stats": {"instance_cost": 0.1, "tokens_sent": 250, "tokens_received": 30, "api_calls": 2},
        },
        "replay_config": json.dumps(config),
        "environment": "main",
    }
    place = folder / instance
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{instance}.traj").write_text(json.dumps(trajectory, indent=2))
    return predicted(folder, instance, patch)


def predicted(folder: Path, instance: str, patch: str | None) -> Path:
    """Adds an entry to preds.json."""
    file = folder / "preds.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    known[instance] = {"model_name_or_path": MODEL, "instance_id": instance, "model_patch": patch}
    file.write_text(json.dumps(known, indent=2))
    return folder
