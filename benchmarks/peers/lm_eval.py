"""lm-evaluation-harness: a task of our own over a local file, exact match."""

from __future__ import annotations

import json

from benchmarks.peers.peer import Call, Peer, Work, prompts

TASK = """\
task: trivial
dataset_path: json
dataset_kwargs:
  data_files:
    test: {rows}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs:
  until: ["\\n\\n"]
  max_gen_toks: 16
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1
"""


def _prepare(work: Work) -> Call:
    rows = work.directory / "rows.jsonl"
    with rows.open("w") as file:
        file.writelines(json.dumps({"question": prompt, "answer": prompt}) + "\n" for prompt in prompts(work))
    tasks = work.directory / "tasks"
    tasks.mkdir(exist_ok=True)
    (tasks / "trivial.yaml").write_text(TASK.format(rows=rows))
    model = {
        "model": "m",
        "base_url": f"{work.base_url}/chat/completions",
        "num_concurrent": work.concurrency,
        "max_retries": 1,
        "tokenized_requests": False,
    }
    arguments = ["--model", "local-chat-completions", "--tasks", "trivial", "--include_path", str(tasks)]
    arguments += ["--model_args", ",".join(f"{name}={value}" for name, value in model.items())]
    arguments += ["--apply_chat_template", "--log_samples", "--output_path", str(work.directory / "results")]
    return Call("lm_eval", arguments, {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work.directory / "hub")})


HARNESS = Peer("lm-evaluation-harness", "peer_lm_eval", False, _prepare)
