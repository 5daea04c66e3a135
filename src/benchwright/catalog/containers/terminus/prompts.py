"""The prompts of Terminus."""

from __future__ import annotations

from collections.abc import Sequence

MAX_SCREEN_BYTES = 10_000
"""Maximum number of bytes of a screen that the model sees. Of a longer screen, the middle is left out."""

_FIRST = """\
You solve a task in a Linux terminal. You type keys, and are shown what the terminal then says.

Answer with one JSON object of this form:

{
  "analysis": "what the terminal shows, what has been achieved, and what is still to be done",
  "plan": "what you will do next and why, and what you expect of each command",
  "commands": [
    {"keystrokes": "ls -la\\n", "duration": 0.1},
    {"keystrokes": "cd project\\n", "duration": 0.1}
  ],
  "task_complete": false
}

"analysis", "plan" and "commands" are required, in this order. "task_complete" may be left out while it is false.

Each entry of "commands" has:
- "keystrokes": the keys, typed exactly as they stand. A command runs only if it ends with a newline (\\n). A special \
key is an entry of its own, written as tmux names it: "C-c" for Ctrl+C, "C-d" for Ctrl+D. No blanks around keys unless \
you want them typed.
- "duration": how many seconds to wait before the next entry (1.0 if it is left out). 0.1 is enough for commands that \
end at once, such as cd, ls, echo or cat; 1.0 for gcc, find or rustc; more for slow ones such as make, a long \
program or a download. Rather wait too little than too long: you can wait again with \
{"keystrokes": "", "duration": 10.0}. Never wait longer than 60 seconds at a time; look at what there is in between.

An empty list of commands only waits. Text around the JSON object is tolerated, with a warning. The JSON has to be \
valid: escape quotes and special characters inside of strings.

The task:
"""


def first_prompt(task: str, screen: str) -> str:
    """Return the first prompt: the instructions on how to answer, the task, and the screen."""
    return f"{_FIRST}{task}\n\nThe terminal now:\n{screen}\n"


def cut_middle(text: str) -> str:
    """Return the text. If it is longer than `MAX_SCREEN_BYTES` bytes, its middle is left out."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_SCREEN_BYTES:
        return text
    half = MAX_SCREEN_BYTES // 2
    head, tail = (part.decode("utf-8", "ignore") for part in (raw[:half], raw[-half:]))
    left_out = len(raw) - len(head.encode()) - len(tail.encode())
    return (
        f"{head}\n[… {left_out} bytes in the middle left out; at most {MAX_SCREEN_BYTES} are shown …]\n{tail}"
    )


def _listed(warnings: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in warnings)


def parse_error_prompt(error: str, warnings: Sequence[str]) -> str:
    """Return the prompt after an answer that could not be parsed."""
    also = f"\nAlso:\n{_listed(warnings)}" if warnings else ""
    return f"Your last answer could not be read: {error}.{also}\n\nNothing of it was done. Answer with correct JSON."


def warning_prompt(warnings: Sequence[str], screen: str) -> str:
    """Return the prompt after an answer whose commands were executed: the screen.

    If the parser had warnings, they come before the screen.
    """
    return f"Your last answer had flaws:\n{_listed(warnings)}\n\n{screen}" if warnings else screen


def confirm_prompt(screen: str) -> str:
    """Return the prompt that asks for confirmation after the model has first reported the task complete."""
    return (
        f"The terminal now:\n{screen}\n\nDo you really want to end here? Your work is then graded, and nothing can be "
        'changed any more. If so, answer with "task_complete": true once more.'
    )


def cut_off_prompt(tokens: int | None, warnings: Sequence[str]) -> str:
    """Return the prompt after an answer that was truncated at its token limit."""
    limit = "the largest length of an answer" if tokens is None else f"{tokens} tokens"
    also = f"\n\nIn what came of it:\n{_listed(warnings)}" if warnings else ""
    return (
        f"NOTHING of your last answer was done, because it was longer than {limit}. Every answer must be shorter. "
        f"Give it again, in parts that are each shorter than {limit}.{also}"
    )


def summary_prompt(task: str) -> str:
    """Return the prompt that asks for a summary before another agent takes over."""
    return f"""\
You are about to hand your work over to another agent. Write down all that it needs to go on.

The task:
{task}

From the conversation so far, say in detail:
1. What was done: each important command, and what it showed.
2. What was found out: files, places, settings, error messages, the state of the system.
3. What was difficult, and how you dealt with it.
4. Where you stand exactly.

Be complete: the other agent knows nothing else of what has happened."""


def questions_prompt(task: str, summarised: str, screen: str) -> str:
    """Return the prompt that asks the agent that takes over for its questions."""
    return f"""\
You take over this task from another agent.

The task:
{task}

Its summary:
{summarised}

The terminal's screen:
{screen}

First ask questions, at least five, about what the summary leaves open. After that you are on your own: ask all that \
you need to know."""


def answers_prompt(asked: str) -> str:
    """Return the prompt that asks the agent that hands over to answer the questions `asked`."""
    return f"The agent that takes over has these questions. Answer each of them in detail:\n\n{asked}"


def hand_over_prompt(answered: str) -> str:
    """Return the prompt with which the agent that takes over starts its work."""
    return (
        f"These are the answers of the agent before you:\n\n{answered}\n\nGo on with the task from here. You cannot "
        "ask any more: answer with JSON objects that type into the terminal, as described."
    )


def restart_prompt(task: str, screen: str) -> str:
    """Return the prompt with which the same agent continues a shortened conversation, if no summary could be made."""
    return f"{task}\n\nThe terminal now:\n{screen}"
