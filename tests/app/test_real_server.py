"""`benchwright eval` on real rows against a server that nobody here wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.real_servers import REAL_SERVER, RealServer

pytestmark = REAL_SERVER


def evaluate(rows: Path, model: str, server: RealServer, home: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchwright", "eval", "-d", str(rows), "--scorer", "mcq"]
    command += ["--model", model, "--base-url", server.base_url, "--batch-size", "4", "--json", *options]
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(home), "BENCHWRIGHT_API_KEY": server.key}
    done = subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def share_of(letter: str, rows: Path) -> float:
    answers = [json.loads(line)["answer"] for line in rows.read_text(encoding="utf-8").splitlines()]
    return answers.count(letter) / len(answers)


def test_a_model_that_always_says_a_is_right_where_the_answer_is_a(
    litellm_proxy: RealServer, real_rows: Path, tmp_path: Path
) -> None:
    rows = real_rows / "mmlu_pro" / "sample.jsonl"
    summary = evaluate(rows, "always-a", litellm_proxy, tmp_path)
    (target,) = summary["targets"]
    (score,) = target["scores"]
    assert target["statuses"] == {"scored": 50}
    assert score["mean"] == score["mean_scored"] == share_of("A", rows)
    assert summary["simulated"] is False


def test_streamed_answers_are_timed_and_their_tokens_counted(
    litellm_proxy: RealServer, real_rows: Path, tmp_path: Path
) -> None:
    rows = real_rows / "mmlu_pro" / "sample.jsonl"
    summary = evaluate(rows, "always-b", litellm_proxy, tmp_path, "--limit", "8")
    (target,) = summary["targets"]
    requests = target["requests"]
    assert requests["total_requests"] == 8
    assert 0 < requests["ttft_p50"] <= requests["latency_p50"]
    assert requests["total_prompt_tokens"] > 0
    assert requests["total_completion_tokens"] > 0


def test_reasoning_is_not_taken_for_the_answer(
    litellm_proxy: RealServer, real_rows: Path, tmp_path: Path
) -> None:
    rows = real_rows / "mmlu_pro" / "sample.jsonl"
    summary = evaluate(rows, "think-then-b", litellm_proxy, tmp_path)
    (target,) = summary["targets"]
    (score,) = target["scores"]
    assert score["mean"] == share_of("B", rows)


def test_the_key_is_in_no_file_of_the_run(litellm_proxy: RealServer, real_rows: Path, tmp_path: Path) -> None:
    evaluate(real_rows / "mmlu_pro" / "sample.jsonl", "always-a", litellm_proxy, tmp_path, "--limit", "3")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if litellm_proxy.key.encode() in path.read_bytes()] == []
