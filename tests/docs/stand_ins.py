"""Whatever the pages name and a reader has at hand: models and judges at addresses, files, runs, other programs.

`STAND_INS` is the list of all of them. Those that the lines of a page name are set up in this order before it is read.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

from tests.docs import stand_in_data as data
from tests.docs import stand_in_programs as programs
from tests.docs.documented_lines import Line
from tests.docs.page_setting import Setting, SetUp


class StandIn(NamedTuple):
    """A placeholder: the pattern by which lines name it, what stands in for it, and what sets that up."""

    pattern: str
    meaning: str
    set_up: SetUp

    def is_in(self, line: Line) -> bool:
        """Return True if a line names the placeholder."""
        return re.search(self.pattern, line.command) is not None


def set_nothing_up(_: Setting) -> None:
    """Set nothing up: any text is right here."""


TURN = {"t": 0, "type": "s", "in": 70, "out": 9, "hash_ids": [1], "think_time": 0.1}
MOONCAKE = {"timestamp": 0, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}

CODEX = {"npm": ["codex@1"], "program": "node_modules/codex/program"}

STAND_INS = (
    StandIn(
        r"benchwright load\b", "a server that can be saturated, and short levels", programs.serve_measured
    ),
    StandIn(r"simulate .*--port 8000.*&$", "a free port", programs.use_free_address("8000")),
    StandIn(r"simulate .*--port 9000.*&$", "a free port", programs.use_free_address("9000")),
    StandIn(r"simulate .*--port 8000", "a free port", programs.use_free_port("8000")),
    StandIn(
        r"http://localhost:8000/v1",
        "a simulated model that knows the answers",
        programs.replace_address("http://localhost:8000/v1", "model"),
    ),
    StandIn(
        r"http://localhost:9000/v1",
        "a simulated judge and customer",
        programs.replace_address("http://localhost:9000/v1", "judge"),
    ),
    StandIn(
        r"http://localhost:8080/v1",
        "a simulated model that knows the answers",
        programs.replace_address("http://localhost:8080/v1", "model"),
    ),
    StandIn(
        r"https://gateway\.example/v1",
        "a simulated model that knows the answers",
        programs.replace_address("https://gateway.example/v1", "model"),
    ),
    StandIn(r"localhost:4318", "a collector that takes everything", programs.collect_spans),
    StandIn(
        r"GATEWAY_TOKEN", "a variable", lambda setting: setting.variables.update(GATEWAY_TOKEN="a-token")
    ),
    StandIn(
        r"\b(my|other|another|older)-(model|judge|user)|\bmodel-[ab]\b|smollm2|--model (old|new)\b|gpt-4o|Qwen/",
        "names that any simulated server takes",
        set_nothing_up,
    ),
    StandIn(
        rf"\b({'|'.join(data.BENCHMARKS)})\b", "made-up rows in the layout of the hub", data.lay_benchmarks
    ),
    StandIn(r"benchwright fetch", "a hub on this machine", data.serve_hub),
    StandIn(r"other-model_\*", "a result file", data.run_other_model),
    StandIn(r"benchwright view", "a free port, and no browser", programs.hide_viewer),
    StandIn(
        r"\brows\.csv",
        "two sums",
        data.write_file("rows.csv", "task,gold\nHow much is 6 times 7?,42\nWhat is 9 minus 4?,5\n"),
    ),
    StandIn(
        r"\btasks\.jsonl",
        "a question",
        data.write_file(
            "tasks.jsonl", data.json_lines({"question": "How much is 6 times 7?", "answer": "42"})
        ),
    ),
    StandIn(
        r"my_scorers:", "the page's function", data.write_block("my_scorers.py", "python", "def mentions")
    ),
    StandIn(r"eval\.toml", "the page's file", data.write_block("eval.toml", "toml", "# eval.toml")),
    StandIn(r"nightly\.toml", "the page's file", data.write_nightly),
    StandIn(r"table --suite nightly(?!\.)", "a suite that was run", data.run_nightly),
    StandIn(r"--reasoning-effort", "a server that says that it is vLLM", programs.serve_thinking),
    StandIn(r"http://127.0.0.1:5177", "a server of a web pack", programs.serve_web_pack),
    StandIn(r"--suite quick", "made-up rows in the layout of the hub", data.lay_benchmarks),
    StandIn(
        r"\b20261125T10\b",
        "a finished run",
        data.write_finished_run("20261125T10", 20, model="another-model"),
    ),
    StandIn(
        r"lm-eval:", "a program that takes the arguments of lm-evaluation-harness", programs.install_lm_eval
    ),
    StandIn(r"key\.jsonl", "the page's answer key", data.write_block("key.jsonl", "json", '"answer"')),
    StandIn(
        r"conversations\.jsonl",
        "the page's scripts",
        data.write_block("conversations.jsonl", "json", '"replies"'),
    ),
    StandIn(
        r"mooncake\.jsonl",
        "a trace of two requests",
        data.write_file("mooncake.jsonl", data.json_lines(MOONCAKE, MOONCAKE | {"timestamp": 300})),
    ),
    StandIn(
        r"agents\.jsonl",
        "a trace of two turns",
        data.write_file("agents.jsonl", data.json_lines({"id": "c", "requests": [TURN, TURN]})),
    ),
    StandIn(
        r"\b20261120T09\b", "a finished run", data.write_finished_run("20261120T09", 24, model="old-model")
    ),
    StandIn(r"--against 20261121T10\b", "a finished run of mmlu_pro", data.run_mmlu_pro),
    StandIn(r"(?<!against )\b20261121T10\b", "a finished run", data.write_finished_run("20261121T10", 36)),
    StandIn(
        r"\b20261122T10\b",
        "a finished run with repeats",
        data.write_finished_run("20261122T10", 30, repeats=3),
    ),
    StandIn(r"\bmain\.json", "a result file of mmlu", data.write_result_file("main")),
    StandIn(r"\bbranch\.json", "a result file of mmlu", data.write_result_file("branch")),
    StandIn(r"\bload-20261122T18\b", "a measurement", data.measure("load-20261122T18")),
    StandIn(r"\bload-20261123T18\b", "a measurement", data.measure("load-20261123T18")),
    StandIn(r"harbor-job", "a job of Harbor", data.write_foreign_results("harbor", "harbor-job")),
    StandIn(
        r"arithmetic\.eval",
        "a log of Inspect",
        data.write_foreign_results("inspect", "logs/2026-11-22_arithmetic.eval"),
    ),
    StandIn(r"\bold\.eval", "a log of Inspect", data.write_foreign_results("inspect", "old.eval")),
    StandIn(r"\bnew\.eval", "a log of Inspect", data.write_foreign_results("inspect", "new.eval")),
    StandIn(
        r"lm-eval-output",
        "results of lm-evaluation-harness",
        data.write_foreign_results("lm-eval", "lm-eval-output/my-model"),
    ),
    StandIn(
        r"promptfoo\.json", "results of promptfoo", data.write_foreign_results("promptfoo", "promptfoo.json")
    ),
    StandIn(r"inspect:", "a program that takes the arguments of Inspect", programs.install_inspect),
    StandIn(
        r"\bcodex\b",
        "an agent that asks once",
        programs.write_agent("codex", command=["{agent}", "{prompt}"], install=CODEX),
    ),
    StandIn(r"claude-code\b", "an agent that asks once", programs.write_agent("claude-code")),
    StandIn(
        r"agents (install|list)",
        "an npm that installs a file, and a pip without an index",
        programs.install_npm,
    ),
    StandIn(r"\bopencode\b", "an agent that asks once", programs.write_agent("opencode")),
    StandIn(r"judge \w+ RUN\b", "a run that was judged", data.run_judged),
)


def fill_in_labels(directory: Path) -> None:
    """Fill in the labels as a person does."""
    with (directory / "my-labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (directory / "my-labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "label": 1} for row in rows)


BY_HAND = {"judge labels RUN": fill_in_labels}
"""What the reader does by hand before a line, by a text in the line."""

UNDECIDED = 5
OUTCOMES = {"--until ": UNDECIDED}
"""The exit codes with which lines may end besides 0, by a text in the line: the few rows here decide nothing."""

TYPED = {"--interactive": "n\nq\n"}
"""What the reader types into a command, by a text in its line."""
