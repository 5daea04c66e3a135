"""GuideLLM: one prompt per line of a file, so many streams at once. It counts tokens as the server tells them."""

from __future__ import annotations

import json

from benchmarks.peers.peer import Call, Peer, Percentiles, Work, prompts


def _prepare(work: Work) -> Call:
    rows = work.directory / "prompts.jsonl"
    with rows.open("w") as file:
        file.writelines(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts(work))
    target = work.base_url.removesuffix("/v1")
    # It would ask for /health before it begins, which is not part of the API.
    backend = f"kind=openai_http,target={target},model=m,max_tokens=16,validate_backend=false"
    arguments = ["run", "--backend", backend, "--data", f"kind=json_file,path={rows}"]
    arguments += ["--profile", f"kind=concurrent,streams={work.concurrency}"]
    arguments += ["--constraint", f"kind=max_requests,count={work.requests}"]
    arguments += ["--output", f"kind=json,path={work.directory / 'results.json'}", "--disable-console"]
    return Call("guidellm", arguments, {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work.directory / "hub")})


def _said(work: Work) -> Percentiles:
    told = json.loads((work.directory / "results.json").read_text())
    ttft = told["benchmarks"][0]["metrics"]["time_to_first_token_ms"]["successful"]["percentiles"]
    return Percentiles(ttft["p50"], ttft["p99"])


RUN = Peer("GuideLLM", "peer_guidellm", True, _prepare, _said)
