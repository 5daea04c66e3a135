"""The prompts with which openai/simple-evals asks the chat models in its published table.

Source: simple_evals.py and chat_completion_sampler.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.catalog.benchmark import Options
from benchwright.records import Message

REPOSITORY = "https://github.com/openai/simple-evals"
COMMIT = "ee3b031"

SYSTEM_MESSAGE = "You are a helpful assistant."
"""The system message for the rows of simple-evals' table of results whose prompt is called "assistant".

These are the rows of all OpenAI models that accept a system message.
"""

TEMPERATURE = 0.5
MAX_TOKENS = 2048

MULTIPLE_CHOICE_INSTRUCTION = (
    "Answer the following multiple choice question. The last line of your response should be of the following "
    "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering."
)
"""The instruction for multiple choice, word for word, so that scores are comparable."""

SYSTEM_MESSAGE_OPTION = {
    "system_message": "Whether to send the protocol's system message: yes or no, for models that refuse one."
}


def opening_messages(options: Options) -> list[Message]:
    """Return the messages before the prompt: the system message. Return [] if the option `system_message` is `no`."""
    return [{"role": "system", "content": SYSTEM_MESSAGE}] if _has_system_message(options) else []


def system_message_departures(options: Options) -> tuple[str, ...]:
    """Return the departure from the protocol if the option `system_message` is `no`. Return () otherwise."""
    return () if _has_system_message(options) else ("no system message",)


def _has_system_message(options: Options) -> bool:
    return options.choice("system_message", ("yes", "no")) == "yes"


def multiple_choice_message(question: str, choices: Sequence[str]) -> Message:
    """Build the message that asks a question with four choices."""
    lines = "\n".join(f"{letter}) {choice}" for letter, choice in zip("ABCD", choices, strict=True))
    return {"role": "user", "content": f"{MULTIPLE_CHOICE_INSTRUCTION}\n\n{question}\n\n{lines}"}
