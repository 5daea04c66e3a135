"""An agent that is a function: it asks the model three times at once and takes the majority's number.

    benchwright eval -m callable_agent:majority -d arithmetic.jsonl \
        --eval-fn rewards:right_number --model MODEL --base-url URL

Whatever is built on an OpenAI client works like this, whichever framework it is: give that client the
`base_url` and `api_key` that the function gets.
"""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from collections import Counter
from typing import Any

VOTES = 3


async def majority(row: dict[str, Any], *, base_url: str, api_key: str, model: str) -> str:
    """The number that most of the answers end with."""
    messages = [
        {"role": "system", "content": row["system_prompt"]},
        {"role": "user", "content": row["user_prompt"]},
    ]
    body = {"model": model, "messages": messages, "temperature": 1.0}
    url = f"{base_url}/chat/completions"
    answers = await asyncio.gather(*(asyncio.to_thread(ask, url, api_key, body) for _ in range(VOTES)))
    numbers = Counter(number for answer in answers if (number := last_number(answer)) is not None)
    return numbers.most_common(1)[0][0] if numbers else "no number"


def ask(url: str, api_key: str, body: dict[str, Any]) -> str:
    """One answer of the model."""
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        content: str = json.load(answer)["choices"][0]["message"]["content"]
    return content


def last_number(text: str) -> str | None:
    """The last number in a text."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    return numbers[-1] if numbers else None
