"""The same answers as each program would have written them down: one file or folder a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.interop.inspect_kit import sample, write_log

from benchwright.interop.foreign_results import ForeignRun, ForeignTrial, UnreadableResults
from benchwright.interop.result_formats import format_of

Writer = Callable[[Path, str, Sequence[float]], Path]
"""(folder, model, a score for each question) -> what was written."""


def runs_of(path: Path) -> list[ForeignRun]:
    """Read the runs of a path; the first one that cannot be read is raised."""
    found = format_of(path)
    assert found is not None
    runs = []
    for one in found.read(path):
        if isinstance(one, UnreadableResults):
            raise one
        runs.append(one)
    return runs


def run_of(path: Path) -> tuple[ForeignRun, list[ForeignTrial]]:
    """Read the only run of a path, and its trials."""
    (run,) = runs_of(path)
    return run, list(run.trials)


def question(number: int) -> str:
    return f"Question {number}?"


def inspect(folder: Path, model: str, scores: Sequence[float]) -> Path:
    samples = [
        sample(number, "C" if score else "I", input=question(number), model_usage={})
        for number, score in enumerate(scores)
    ]
    return write_log(folder / f"{model}.eval", samples, model=f"openai/{model}")


def score_lines(folder: Path, model: str, scores: Sequence[float]) -> Path:
    lines = [
        {"id": f"q{number}", "score": score, "model": model, "input": question(number)}
        for number, score in enumerate(scores)
    ]
    return _lines(folder / f"{model}.jsonl", lines)


def lm_eval(folder: Path, model: str, scores: Sequence[float]) -> Path:
    out = folder / model
    out.mkdir()
    results = {
        "results": {"sums": {"alias": "sums", "exact_match,none": sum(scores) / len(scores)}},
        "higher_is_better": {"sums": {"exact_match": True}},
        "n-samples": {"sums": {"original": len(scores), "effective": len(scores)}},
        "configs": {"sums": {"task": "sums", "output_type": "generate_until", "repeats": 1}},
        "model_name": model,
        "date": 1_795_000_000.0,
    }
    (out / "results_2026-11-22T10-00-00.000000.json").write_text(json.dumps(results))
    lines = [
        {
            "doc_id": number,
            "doc": {"question": question(number)},
            "target": "right",
            "arguments": {"gen_args_0": {"arg_0": question(number), "arg_1": {}}},
            "resps": [["an answer"]],
            "filtered_resps": ["an answer"],
            "filter": "none",
            "metrics": ["exact_match"],
            "doc_hash": f"{number:064x}",
            "exact_match": score,
        }
        for number, score in enumerate(scores)
    ]
    _lines(out / "samples_sums_2026-11-22T10-00-00.000000.jsonl", lines)
    return out


def promptfoo(folder: Path, model: str, scores: Sequence[float]) -> Path:
    cells = [
        {
            "testIdx": number,
            "promptIdx": 0,
            "vars": {"question": question(number)},
            "provider": {"id": model, "label": ""},
            "prompt": {"raw": question(number), "label": "{{question}}"},
            "response": {"output": "an answer"},
            "success": bool(score),
            "score": score,
            "namedScores": {},
            "gradingResult": {"pass": bool(score), "score": score, "reason": "because"},
            "failureReason": 0 if score else 1,
        }
        for number, score in enumerate(scores)
    ]
    whole = {
        "version": 3,
        "timestamp": "2026-11-22T10:00:00.000Z",
        "prompts": [],
        "results": cells,
        "stats": {},
    }
    path = folder / f"{model}.json"
    path.write_text(json.dumps({"evalId": f"eval-{model}", "results": whole, "config": {}}))
    return path


def evalscope(folder: Path, model: str, scores: Sequence[float]) -> Path:
    out = folder / model
    for part in ("reviews", "reports", "predictions"):
        (out / part / model).mkdir(parents=True)
    mean = sum(scores) / len(scores)
    report = {
        "schema_version": 2,
        "name": f"{model}@sums",
        "dataset_name": "sums",
        "model_name": model,
        "metrics": [{"name": "acc", "score": mean, "num": len(scores), "categories": []}],
        "execution_summary": {
            "requested": len(scores),
            "succeeded": len(scores),
            "errored": 0,
            "incomplete": 0,
        },
    }
    (out / "reports" / model / "sums.json").write_text(json.dumps(report))
    reviews = [
        {
            "index": number,
            "input": question(number),
            "target": "right",
            "sample_score": {
                "sample_id": number,
                "group_id": number,
                "generation_index": 0,
                "score": {
                    "value": {"acc": score},
                    "extracted_prediction": "an answer",
                    "main_score_name": "acc",
                },
            },
        }
        for number, score in enumerate(scores)
    ]
    _lines(out / "reviews" / model / "sums_default.jsonl", reviews)
    _lines(out / "predictions" / model / "sums_default.jsonl", [])
    return out


def harbor(folder: Path, model: str, scores: Sequence[float]) -> Path:
    job = folder / model
    job.mkdir()
    (job / "config.json").write_text("{}")
    (job / "result.json").write_text(json.dumps({"id": "1", "stats": {}, "n_total_trials": len(scores)}))
    for number, score in enumerate(scores):
        trial = job / f"sum-{number}__abcdefg"
        trial.mkdir()
        result = {
            "task_name": f"sum-{number}",
            "trial_name": trial.name,
            "task_checksum": f"{number:064x}",
            "source": "sums",
            "agent_info": {
                "name": "scripted",
                "version": "1",
                "model_info": {"name": model, "provider": "mock"},
            },
            "config": {"agent": {"model_name": f"mock/{model}"}},
            "verifier_result": {"rewards": {"reward": score}},
            "exception_info": None,
            "started_at": "2026-11-22T10:00:00Z",
            "finished_at": "2026-11-22T10:00:01Z",
        }
        (trial / "result.json").write_text(json.dumps(result))
    return job


WRITERS: dict[str, Writer] = {
    "inspect": inspect,
    "lm-eval": lm_eval,
    "evalscope": evalscope,
    "promptfoo": promptfoo,
    "harbor": harbor,
    "scores": score_lines,
}


def _lines(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
