"""Tokens of chat templates that servers leave in texts: gpt-oss's channel tokens, and tokens that end a turn."""

from __future__ import annotations

import re
from typing import NamedTuple

_CHANNEL = re.compile(
    r"(?P<to><\|start\|>assistant[^<]{0,200})?<\|channel\|>(?P<name>\w+)"
    r"(?P<header>[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?)<\|message\|>(?P<text>.*?)"
    r"(?:<\|(?:end|return|call)\|>|(?=<\|start\|>|<\|channel\|>)|\Z)",
    re.DOTALL,
)
"""Matches one message in OpenAI's Harmony format (openai/harmony, docs/format.md)."""

_ENDS = (
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>"),
    *("<end_of_turn>", "<turn|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "<|user|>", "</s>"),
)
"""Tokens that end a turn.

They are those of Qwen, Llama, GPT-2, Phi, gpt-oss, Gemma, Command R, DeepSeek, GLM and Mistral.
"""


class HarmonyText(NamedTuple):
    """The reasoning and the answer of a text in the Harmony format.

    `answer_offset`: the offset at which the answer begins in the text.
    """

    reasoning: str
    text: str
    answer_offset: int


def read_harmony_text(content: str) -> HarmonyText | None:
    """Return the reasoning and the answer of a text in OpenAI's Harmony format. Return None if it has another format.

    A message to a function is a tool call that the server should have parsed. It stays in the text.
    """
    if "<|channel|>" not in content:
        return None
    thoughts, texts, begin = [], [], len(content)
    found = list(_CHANNEL.finditer(content))
    if not found or content[: found[0].start()].strip():
        return None
    for message in found:
        if message["name"] == "analysis":
            thoughts.append(message["text"].strip())
        else:
            begin = min(begin, message.start("text"))
            is_call = "to=" in f"{message['to'] or ''}{message['header']}"
            texts.append(message[0] if is_call else message["text"])
    return HarmonyText("\n\n".join(filter(None, thoughts)), "".join(texts), begin)


def strip_end_token(text: str) -> tuple[str, str]:
    """Return (text, token). The text is without the token that ends its turn. The token is "" if there is none."""
    stripped = text.rstrip()
    if not stripped.endswith(">"):
        return text, ""
    end = next((one for one in _ENDS if stripped.endswith(one)), "")
    if not end or (end == "</s>" and "<s>" in text):
        return text, ""
    return stripped.removesuffix(end), end
