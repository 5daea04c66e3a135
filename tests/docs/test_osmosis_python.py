"""Every Python block of the Osmosis documents runs as written, and what it comes to is right.

The documents are read from BENCHWRIGHT_SPEC_DIR; our own programs of the same kind (osmosis_python.md) always
run. The address of the documents is replaced by that of the test's server, nothing else. The model gets 7 of
the first 10 rows right and is off in the other 3, every time; the baseline gets all of them right.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from importlib.util import find_spec
from operator import or_
from pathlib import Path
from types import UnionType
from typing import (  # noqa: UP035 - the documents use Dict and List
    Any,
    Dict,
    List,
    NamedTuple,
    Optional,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import pytest

from benchwright.endpoint.simulate import Settings, SimulatedEndpoint, keyed_answers
from osmosis_ai.rollout import RolloutAgentLoop, RolloutContext, RolloutResult
from osmosis_ai.rollout.eval import bench, common, evaluation
from osmosis_ai.rollout.eval.bench import EvalFnWrapper, load_eval_fns
from osmosis_ai.rollout.eval.common import ExternalLLMClient

HERE = Path(__file__).parent
SPEC = Path(os.environ.get("BENCHWRIGHT_SPEC_DIR", HERE.parents[2] / "shared" / "spec"))
DOCUMENTS = [
    SPEC / f"osmosis-{name}.md" for name in ("bench-mode", "eval-mode", "eval-mode-cache-and-resume")
]
ADDRESS = "http://localhost:8000/v1"
ROWS = 12
WRONG = (2, 5, 8)

REWARDS = """
def exact_match(solution_str: str, ground_truth: str, extra_info: dict = None, **kwargs) -> float:
    return float(solution_str == ground_truth)

def partial_match(solution_str: str, ground_truth: str, extra_info: dict = None, **kwargs) -> float:
    return 1.0 if solution_str == ground_truth else 0.5
"""
PRIMARY = """\
rewards:exact_match: mean=0.700, std=0.458
  pass@1: 70.0%
  pass@3: 70.0%
  pass@5: 70.0%
rewards:partial_match: mean=0.850, std=0.229
  pass@1: 100.0%
  pass@3: 100.0%
  pass@5: 100.0%
"""
BOTH = """
[primary] my-finetuned-model
  rewards:exact_match: mean=0.700, std=0.458
  rewards:partial_match: mean=0.850, std=0.229

[baseline] openai/gpt-5-mini
  rewards:exact_match: mean=1.000, std=0.000
  rewards:partial_match: mean=1.000, std=0.000
"""


class AskOnce(RolloutAgentLoop):
    """The agent that the documents leave to the reader."""

    name = "ask-once"

    def get_tools(self, request: Any) -> list[Any]:
        return []

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        messages.append((await ctx.chat(messages, **ctx.request.completion_params)).message)
        return ctx.complete(messages)


def blocks(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def all_blocks() -> Iterator[Any]:
    for document in (HERE / "osmosis_python.md", *DOCUMENTS):
        if not document.exists():
            reason = f"{document.name} is not there; BENCHWRIGHT_SPEC_DIR says where the documents are"
            yield pytest.param("", id=document.stem, marks=pytest.mark.skip(reason=reason))
            continue
        for number, block in enumerate(blocks(document), 1):
            yield pytest.param(block, id=f"{document.stem}-{number}")


class Place(NamedTuple):
    """Where a block runs: what it finds defined, and what it printed."""

    names: dict[str, Any]
    endpoint: SimulatedEndpoint
    printed: Callable[[], str]

    async def run(self, block: str) -> None:
        program = block.replace(ADDRESS, self.endpoint.base_url)
        code = compile(program, "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        running = eval(code, self.names)
        if inspect.isawaitable(running):
            await running


@pytest.fixture
async def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Place]:
    """A directory with the dataset and the rewards of the documents, both models, and the undefined names."""
    rows = [
        {"system_prompt": "Be brief.", "user_prompt": f"Say {number}.", "ground_truth": str(number)}
        for number in range(ROWS)
    ]
    (tmp_path / "test_data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rewards.py").write_text(REWARDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "rewards", raising=False)
    right = {row["user_prompt"]: row["ground_truth"] for row in rows}
    off = {f"Say {number}.": "no idea" for number in WRONG}
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(served("my-finetuned-model", right | off))
        openai = await stack.enter_async_context(served("gpt-5-mini", right))
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        client = ExternalLLMClient("my-finetuned-model", api_base=endpoint.base_url)
        names = {
            "MyAgentLoop": AskOnce,
            "client": await stack.enter_async_context(client),
            "eval_fns": load_eval_fns(["rewards:exact_match"]),
            "rows": rows[:10],
            "row": rows[0],
            "my_eval_function": sys.modules["rewards"].partial_match,
            "messages": [{"role": "assistant", "content": "5"}],
            "ground_truth": "4",
            "metadata": {},
            "call_judge_llm": judge,
            "dataclass": dataclass,
            "Dict": Dict,  # noqa: UP006
            "List": List,  # noqa: UP006
            "Optional": Optional,
            **{name: getattr(bench, name) for name in bench.__all__},
            **{name: getattr(evaluation, name) for name in evaluation.__all__},
        }
        yield Place(names, endpoint, lambda: capsys.readouterr().out)
    sys.modules.pop("rewards", None)


def served(model: str, answers: dict[str, str]) -> SimulatedEndpoint:
    return SimulatedEndpoint(Settings(models=(model,), answers=keyed_answers(answers)))


async def judge(messages: list[Any], ground_truth: str) -> float:
    return 0.25


def a_bench_prints_its_summaries(place: Place) -> None:
    assert place.printed() == PRIMARY
    assert place.endpoint.stats.requests == place.names["result"].total_runs == 50


def an_evaluation_prints_those_of_both_models(place: Place) -> None:
    assert place.printed() == PRIMARY + BOTH
    assert place.endpoint.stats.requests == 50
    assert place.names["result"].total_runs == 100


def runners_run_once_and_all(place: Place) -> None:
    single = place.names["result"]
    assert (single.success, single.scores) == (True, {"rewards:exact_match": 1.0})
    whole = place.names.get("bench_result") or place.names["eval_result"]
    assert place.printed().split() == [f"[{number}/50]" for number in range(1, 51)]
    summary = whole.eval_summaries["rewards:exact_match"]
    assert (summary.mean, summary.std) == (pytest.approx(0.7), pytest.approx(math.sqrt(0.21)))
    assert summary.pass_at_k == {k: pytest.approx(0.7) for k in (1, 3, 5)}


async def a_simple_function_scores_the_last_answer(place: Place) -> None:
    wrapper = EvalFnWrapper(place.names["exact_match"], "exact_match")
    messages = [{"role": "assistant", "content": text} for text in ("4", " 5\n")]
    assert [await wrapper(messages, truth, {}) for truth in ("4", "5 ")] == [0.0, 1.0]


async def a_full_function_scores_the_conversation(place: Place) -> None:
    wrapper = EvalFnWrapper(place.names["conversation_quality"], "conversation_quality")
    messages = [{"role": role, "content": ""} for role in ("user", "assistant", "user", "assistant")]
    assert await wrapper(messages, "4", {}) == pytest.approx(2 / 3)


async def an_async_function_is_awaited(place: Place) -> None:
    assert await EvalFnWrapper(place.names["llm_judge"], "llm_judge")([], "4", {}) == 0.25


def a_wrapper_gives_the_score(place: Place) -> None:
    assert (place.names["wrapper"].name, place.names["score"]) == ("my_eval", 0.5)


def paths_are_the_names_of_eval_functions(place: Place) -> None:
    names = [fn.name for fn in place.names["eval_fns"]]
    assert names == ["rewards:exact_match", "rewards:partial_match"]


def exceptions_have_one_base(place: Place) -> None:
    for name in ("DatasetValidationError", "DatasetParseError", "ProviderError", "ToolValidationError"):
        assert issubclass(place.names[name], common.LocalExecutionError)
    assert issubclass(place.names["EvalFnError"], common.LocalExecutionError)


def results_have_the_documented_fields(place: Place) -> None:
    """In this order, with these types, perhaps others among them."""
    ours = {**vars(bench), **vars(evaluation)}
    (shown,) = [
        found
        for name, found in place.names.items()
        if isinstance(found, type) and is_dataclass(found) and found is not ours[name]
    ]
    documented = [(field.name, as_today(field.type)) for field in fields(shown)]
    actual = [(name, as_today(hint)) for name, hint in get_type_hints(ours[shown.__name__]).items()]
    assert [pair for pair in actual if pair in documented] == documented


def as_today(hint: Any) -> Any:
    """A type of the documents as we write it: Optional[List[X]] as list[X] | None."""
    arguments = [as_today(argument) for argument in get_args(hint)]
    if get_origin(hint) in (Union, UnionType):
        return reduce(or_, arguments)
    return get_origin(hint)[*arguments] if arguments else hint


def tools_are_registered(place: Place) -> None:
    assert type(place.names["mcp"]).__name__ == "FastMCP"


CHECKS: dict[str, Callable[[Place], Any]] = {
    "baseline_llm_client=": an_evaluation_prints_those_of_both_models,
    'DatasetReader("./test_data.jsonl")': a_bench_prints_its_summaries,
    "runner.run_single(": runners_run_once_and_all,
    "def exact_match(": a_simple_function_scores_the_last_answer,
    "def conversation_quality(": a_full_function_scores_the_conversation,
    "async def llm_judge(": an_async_function_is_awaited,
    "EvalFnWrapper(": a_wrapper_gives_the_score,
    "eval_fns = load_eval_fns(": paths_are_the_names_of_eval_functions,
    "    DatasetValidationError,": exceptions_have_one_base,
    "@dataclass": results_have_the_documented_fields,
    "import FastMCP": tools_are_registered,
}
"""By what a block has in it, the first that fits."""


@pytest.mark.parametrize("block", list(all_blocks()))
async def test_a_block_comes_to_what_it_should(block: str, place: Place) -> None:
    check = next(check for sign, check in CHECKS.items() if sign in block)
    if check is tools_are_registered and find_spec("fastmcp") is None:
        pytest.skip("fastmcp is not installed")
    await place.run(block)
    checking = check(place)
    if inspect.isawaitable(checking):
        await checking


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.stem)
def test_every_block_of_a_document_is_found(document: Path) -> None:
    """Against a pattern that passes over a block."""
    if not document.exists():
        pytest.skip(f"{document.name} is not there; BENCHWRIGHT_SPEC_DIR says where the documents are")
    fences = sum(line.startswith("```python") for line in document.read_text(encoding="utf-8").splitlines())
    assert len(blocks(document)) == fences > 0
