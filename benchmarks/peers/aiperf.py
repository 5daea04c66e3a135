"""AIPerf: one prompt per line of a file. It wants a tokenizer, and gets one of five words."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.peers.peer import Call, Peer, Percentiles, Work, prompts

WORDS = ("[UNK]", "What", "is", "the", "number")


def _prepare(work: Work) -> Call:
    rows = work.directory / "prompts.jsonl"
    with rows.open("w") as file:
        file.writelines(json.dumps({"text": prompt}) + "\n" for prompt in prompts(work))
    tokenizer = work.directory / "tokenizer"
    _write_tokenizer(tokenizer)
    arguments = ["profile", "--model", "m", "--url", work.base_url.removesuffix("/v1"), "--ui", "none"]
    arguments += ["--endpoint-type", "chat", "--streaming", "--osl", "16"]
    arguments += ["--concurrency", str(work.concurrency), "--request-count", str(work.requests)]
    arguments += ["--input-file", str(rows), "--custom-dataset-type", "single_turn"]
    arguments += ["--use-server-token-count", "--tokenizer", str(tokenizer)]
    arguments += ["--artifact-dir", str(work.directory / "results")]
    # Not HF_HUB_OFFLINE: with it AIPerf takes no folder for a tokenizer.
    return Call("aiperf", arguments, {"HF_HOME": str(work.directory / "hub")})


def _write_tokenizer(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    numbers = {word: number for number, word in enumerate(WORDS)}
    parts = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": numbers, "unk_token": WORDS[0]},
    }
    (directory / "tokenizer.json").write_text(json.dumps(parts))
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": WORDS[0]}
    (directory / "tokenizer_config.json").write_text(json.dumps(kind))


def _said(work: Work) -> Percentiles:
    told = json.loads((work.directory / "results" / "profile_export_aiperf.json").read_text())
    ttft = told["time_to_first_token"]
    return Percentiles(ttft["p50"], ttft["p99"])


PROFILE = Peer("AIPerf", "peer_aiperf", True, _prepare, _said)
