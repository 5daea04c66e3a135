"""Solver of LongBench v2's questions. It sends one request, or two, the second of which asks for the letter.

The prompts are the official ones, word for word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchwright.catalog.asking import context_length_detail, outcome_with_notes, user
from benchwright.catalog.multiple_choice import format_choices
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Record, Trial

ANSWER_FORMAT = 'Format your response as follows: "The correct answer is (insert answer here)".'

QUESTION_INTRODUCTION = "Please read the following text and answer the question below."

QUESTIONS_INTRODUCTION = "Please read the following text and answer the questions below."

STEP_BY_STEP_INSTRUCTION = "Let’s think step by step:"

OMITTED_TEXT = "The text is too long and omitted here."

LETTER_REQUEST = "Based on the above, what is the single, most likely answer choice?"


def zero_shot_prompt(content: dict[str, Any]) -> str:
    """Return the prompt for a direct answer (prompts/0shot.txt).

    The prompt contains document, question, choices, and the format of the answer.
    """
    return f"{QUESTION_INTRODUCTION}\n\n{_text(content)}\n\n{_question(content)}\n\n{ANSWER_FORMAT}"


def step_by_step_prompt(content: dict[str, Any]) -> str:
    """Return the first prompt for chain of thought (prompts/0shot_cot.txt).

    The prompt contains document, question and choices.
    """
    return (
        f"{QUESTIONS_INTRODUCTION}\n\n{_text(content)}\n\n{_question(content)}\n\n{STEP_BY_STEP_INSTRUCTION}"
    )


def letter_prompt(content: dict[str, Any], thoughts: str) -> str:
    """Return the second prompt for chain of thought, which asks for the letter (prompts/0shot_cot_ans.txt).

    The prompt contains the question and the model's thoughts, but not the document.
    """
    return (
        f"{QUESTIONS_INTRODUCTION}\n\n{OMITTED_TEXT}\n\n{_question(content)}\n\n{STEP_BY_STEP_INSTRUCTION}"
        f" {thoughts.strip()}\n\n"
        f"{LETTER_REQUEST} {ANSWER_FORMAT}"
    )


def documented_prompt(content: dict[str, Any]) -> str:
    """Return the prompt that llm-benchmarker documents: the whole document, the question and its choices."""
    choices = "\n".join(format_choices(content["choices"]))
    return f"{content['context']}\n\nQuestion: {content['question']}\n\n{choices}\n\nAnswer with the letter only."


def _text(content: dict[str, Any]) -> str:
    return f"<text>\n{content['context'].strip()}\n</text>"


def _question(content: dict[str, Any]) -> str:
    choices = format_choices([choice.strip() for choice in content["choices"]], "({letter}) {choice}")
    return "\n".join(
        [f"What is the correct answer to this question: {content['question'].strip()}", "Choices:", *choices]
    )


MAX_LETTER_TOKENS = 128
"""The official limit on the tokens of the second response."""


class FittedPromptSolver:
    """Solver that sends the prompt. If the prompt has more than `most` tokens, its middle is cut out.

    With `twice`, a second request asks for the letter that follows from the first response, and its response
    is the answer. Otherwise the first response is the answer.
    """

    def __init__(
        self, prompt: Callable[[dict[str, Any]], str], *, most: int | None = None, twice: bool = False
    ) -> None:
        self._prompt = prompt
        self._most = most
        self._twice = twice

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send one request. With `twice`, send a second one. The last response is the answer."""
        content = trial.sample.content
        text, notes = self._prompt(content), {}
        if self._most is not None:
            fitted = await fit_prompt(session, text, self._most)
            text = fitted.text
            notes = context_length_detail(fitted.tokens, fitted.is_estimated) | {"cut": fitted.is_cut}
        messages: list[Message] = [user(text)]
        reply = await session.chat(messages)
        notes = notes or _length_by(reply, text)
        if self._twice:
            messages.append(reply.message)
            asked = user(letter_prompt(content, reply.text))
            reply = await session.chat([asked], max_tokens=_letter_tokens(session))
            messages.append(asked)
        return outcome_with_notes(messages, reply, notes)


def _letter_tokens(session: Session) -> int:
    return min(MAX_LETTER_TOKENS, session.target.settings.get("max_tokens") or MAX_LETTER_TOKENS)


def _length_by(reply: Reply, text: str) -> dict[str, Any]:
    """Return the prompt's length in tokens, for the outcome's details.

    The length is taken from the response's usage. If there is no usage, it is estimated from the characters.
    """
    counted = reply.usage.prompt_tokens
    return context_length_detail(estimate_tokens(text) if counted is None else counted, counted is None)


MAX_TOKENIZER_REQUESTS = 8
"""Maximum number of requests to the server's tokenizer by which one end of a cut prompt is found."""

MIN_LENGTH_SHARE = 0.99

CHARACTERS_PER_TOKEN = 4.0
"""Number of characters per token that is assumed if the server does not count tokens."""


class FittedPrompt(Record, frozen=True):
    """A prompt as it is sent. `is_cut`: True if its middle was cut out.

    `tokens`: its length before cutting. `is_estimated`: True if this length was estimated from the characters.
    """

    text: str
    tokens: int
    is_cut: bool
    is_estimated: bool


async def fit_prompt(session: Session, text: str, most: int) -> FittedPrompt:
    """Return the text if it has at most `most` tokens. Otherwise return its first and last `most // 2` tokens.

    The official code cuts between tokens (pred.py). Here the cut is between characters, and either end may be
    1 % too short. If the server does not count tokens, a token is assumed to have four characters.
    """
    counted = await session.count_tokens(text)
    tokens = estimate_tokens(text) if counted is None else counted
    if tokens <= most:
        return FittedPrompt(text, tokens, False, counted is None)
    size = int(len(text) * (most // 2) / tokens)
    if counted is not None:
        head = await _end(session, lambda size: text[:size], size, most // 2)
        tail = await _end(session, lambda size: text[len(text) - size :], size, most // 2)
    else:
        head, tail = text[:size], text[len(text) - size :]
    return FittedPrompt(head + tail, tokens, True, counted is None)


def estimate_tokens(text: str) -> int:
    """Return the number of tokens of a text, estimated from its characters."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


async def _end(session: Session, take: Callable[[int], str], size: int, most: int) -> str:
    """Search for the longest beginning or end of a text that has at most `most` tokens, and return it.

    `take` returns the beginning or end with a given number of characters. `size` is the first number to try.
    The number of requests is limited, so that the result may be a little too short.
    """
    best = ""
    for _ in range(MAX_TOKENIZER_REQUESTS):
        piece = take(size)
        tokens = await session.count_tokens(piece)
        if tokens is None:
            return best or take(min(size, int(most * CHARACTERS_PER_TOKEN)))
        if tokens <= most:
            best = max(best, piece, key=len)
            if tokens >= most * MIN_LENGTH_SHARE:
                break
        size = int(size * most / max(tokens, 1) * (1 + MIN_LENGTH_SHARE) / 2)
    return best
