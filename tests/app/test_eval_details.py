"""Small promises of `eval`: what a package's note says, a dataset rewritten in place, nothing left to retry."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.app.app_kit import GrowingJournal, Program, finished, one_line_of, trials
from tests.simulated import simulated_endpoint

AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop

class Agent(RolloutAgentLoop):
    name = "plain"

    def get_tools(self, request):
        return []

    async def run(self, ctx):
        messages = list(ctx.request.messages)
        messages.append((await ctx.chat(messages)).message)
        return ctx.complete(messages)
"""


def test_nothing_that_failed_is_left_to_retry(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    first = program.summary(*command)
    again = program.run(*command, "--retry-failed")
    assert again.returncode == 0
    assert "Evaluation already completed (cached)." in again.stdout
    assert len(trials(program.only_run)) == first.done == 3


def test_a_dataset_rewritten_in_place_is_told_as_what_it_is(program: Program, tmp_path: Path) -> None:
    """Though a reader in the middle of the file would see broken JSON."""
    with simulated_endpoint("--first-token=30") as base_url:
        dataset = program.rows(3000)
        process = program.start(*program.evaluating(dataset, base_url, "--batch-size=2"))
        GrowingJournal(program).wait_for(5, process)
        program.write(dataset, "no JSON at all\n" * 20_000)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Dataset was modified during evaluation." in one_line_of(stderr)
    assert finished(program.only_run)


def test_the_note_of_a_resumed_run_names_the_package(program: Program) -> None:
    package = program.directory / "my_agents"
    package.mkdir()
    (package / "__init__.py").write_text(AGENT)
    row = {"system_prompt": "s", "user_prompt": "hi", "ground_truth": "hi"}
    program.write(
        "rows.jsonl", "".join(json.dumps(row | {"user_prompt": f"hi {n}"}) + "\n" for n in range(40))
    )
    program.write("rewards.py", "def fine(solution_str, ground_truth, extra_info=None):\n    return 1.0\n")
    with simulated_endpoint("--first-token=100") as base_url:
        command = ["eval", "-m", "my_agents:Agent", "-d", "rows.jsonl", "--eval-fn", "rewards:fine"]
        command += ["--model", "m", "--base-url", base_url, "--batch-size", "2"]
        process = program.start(*command)
        GrowingJournal(program).wait_for(2, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        resumed = program.run(*command, "--batch-size", "20")
    assert "Note: Module fingerprint covers package my_agents/. External dependency changes" in resumed.stdout
