"""MMLU's prompts, and the solver that reads the most probable next letter (hendrycks/test, evaluate.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.catalog.multiple_choice import format_choices
from benchwright.catalog.simple_evals import multiple_choice_message
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Status, Trial


def step_by_step_prompt(content: dict[str, Any]) -> list[Message]:
    """Return the prompt of simple-evals, which asks for chain of thought."""
    return [multiple_choice_message(content["question"], content["choices"])]


def five_shot_prompt(content: dict[str, Any]) -> str:
    """Return the prompt of the original five-shot evaluation, which the model continues with a letter."""
    subject = content["subject"].replace("_", " ")
    header = f"The following are multiple choice questions (with answers) about {subject}.\n\n"
    shots = "".join(f"{_question(shot)} {shot['answer']}\n\n" for shot in content["shots"])
    return f"{header}{shots}{_question(content)}"


def _question(content: dict[str, Any]) -> str:
    return "\n".join([content["question"], *format_choices(content["choices"]), "Answer:"])


TOP_LOGPROB_COUNT = 20
"""Number of log-probabilities to request for the next token. vLLM returns at most 20."""


class NextLetterSolver:
    """Solver that requests one token from /completions. The answer is the most probable letter from A to D.

    A space before the letter is ignored.
    """

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send one request, and return the most probable letter as the answer.

        The answer is empty if no letter is among the most probable tokens.
        """
        prompt = five_shot_prompt(trial.sample.content)
        reply = await session.complete(prompt, max_tokens=1, logprobs=TOP_LOGPROB_COUNT, temperature=0)
        letter = most_probable_letter(reply.logprobs)
        messages = [{"role": "user", "content": prompt}, reply.message]
        return Outcome(Status.ANSWERED, messages, letter or "")


def most_probable_letter(logprobs: Any) -> str | None:
    """Return the letter from A to D that is most probable as the first token.

    Return None if no letter is among the candidates.
    """
    best: tuple[float, str] | None = None
    for token, value in _first_token(logprobs).items():
        letter = token.strip()
        if len(letter) == 1 and letter in "ABCD" and value is not None and (best is None or value > best[0]):
            best = (value, letter)
    return None if best is None else best[1]


def _first_token(logprobs: Any) -> Mapping[str, float | None]:
    """Return a mapping from each candidate for the first token to its log-probability. Return {} if there are none.

    Two formats are read: that of /completions, and that of chat completions, which llama.cpp's server uses
    for /completions too. A log-probability is None if the server sent NaN.
    """
    told = logprobs if isinstance(logprobs, Mapping) else {}
    top, content = told.get("top_logprobs"), told.get("content")
    first = top[0] if isinstance(top, list) and top else None
    if isinstance(first, Mapping):
        return first
    first = content[0] if isinstance(content, list) and content else None
    listed = first.get("top_logprobs") if isinstance(first, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    return {entry["token"]: entry["logprob"] for entry in entries if isinstance(entry, Mapping)}
