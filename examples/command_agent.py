"""An agent that is a program of its own, with nothing but Python's standard library.

    benchwright eval --agent-command "python command_agent.py" -d arithmetic.jsonl \
        --eval-fn rewards:right_number --model MODEL --base-url URL

It could be written in any language: the row comes as JSON on stdin, the answer goes to stdout, and the model
is where OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL say, as every OpenAI client knows by itself.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

CHECK = """{question}

Somebody answered: {draft}
Work it out again, and end with the right number."""


def main() -> None:
    """Has the model answer, and then check its own answer."""
    row = json.load(sys.stdin)
    system = {"role": "system", "content": row["system_prompt"]}
    draft = ask([system, {"role": "user", "content": row["user_prompt"]}])
    check = CHECK.format(question=row["user_prompt"], draft=draft)
    print(ask([system, {"role": "user", "content": check}]))


def ask(messages: list[dict[str, Any]]) -> str:
    """The model's answer to a conversation."""
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages}).encode(),
        {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        content: str = json.load(answer)["choices"][0]["message"]["content"]
    return content


if __name__ == "__main__":
    main()
