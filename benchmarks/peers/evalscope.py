"""EvalScope: `eval` over a local file of multiple-choice questions (its scorer that costs least), and `perf`."""

from __future__ import annotations

import json

from benchmarks.peers.peer import Call, Peer, Percentiles, Work, prompts


def _environment(work: Work) -> dict[str, str]:
    folders = {"HF_HOME": str(work.directory / "hub"), "MODELSCOPE_CACHE": str(work.directory / "cache")}
    return {"HF_HUB_OFFLINE": "1", **folders}


def _evaluate(work: Work) -> Call:
    rows = work.directory / "rows"
    rows.mkdir(exist_ok=True)
    with (rows / "default_val.jsonl").open("w") as file:
        for prompt in prompts(work):
            file.write(json.dumps({"question": prompt, "A": "one", "B": "two", "answer": "A"}) + "\n")
    dataset = {"general_mcq": {"local_path": str(rows), "subset_list": ["default"]}}
    arguments = ["eval", "--model", "m", "--api-url", work.base_url, "--api-key", "EMPTY"]
    arguments += ["--eval-type", "openai_api", "--eval-batch-size", str(work.concurrency)]
    arguments += ["--datasets", "general_mcq", "--dataset-args", json.dumps(dataset)]
    arguments += ["--generation-config", json.dumps({"stream": False, "max_tokens": 16})]
    arguments += ["--work-dir", str(work.directory / "results")]
    return Call("evalscope", arguments, _environment(work))


def _time(work: Work) -> Call:
    rows = work.directory / "prompts.txt"
    rows.write_text("".join(prompt + "\n" for prompt in prompts(work)))
    arguments = ["perf", "--model", "m", "--url", f"{work.base_url}/chat/completions", "--api", "openai"]
    arguments += ["--api-key", "EMPTY", "--no-test-connection", "--stream", "--max-tokens", "16"]
    arguments += ["--dataset", "line_by_line", "--dataset-path", str(rows)]
    arguments += ["--parallel", str(work.concurrency), "--number", str(work.requests)]
    arguments += ["--outputs-dir", str(work.directory / "results")]
    return Call("evalscope", arguments, _environment(work))


def _said(work: Work) -> Percentiles:
    (file,) = (work.directory / "results").rglob("benchmark_percentile.json")
    rows = {row["Percentiles"]: row["TTFT (ms)"] for row in json.loads(file.read_text())}
    return Percentiles(rows["50%"], rows["99%"])


EVAL = Peer("EvalScope eval", "peer_evalscope", False, _evaluate)
PERF = Peer("EvalScope perf", "peer_evalscope", True, _time, _said)
