"""Detection of a server's thinking style (its kind of request fields), from its host or its own information."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.endpoint.access import Access
from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.endpoint.server_info import has_version_route, list_owners

HOST_STYLES = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "dashscope.aliyuncs.com": "dashscope",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "dashscope-us.aliyuncs.com": "dashscope",
    "api.deepseek.com": "deepseek",
    "api.z.ai": "zai",
    "api.moonshot.ai": "kimi",
    "api.moonshot.cn": "kimi",
}

OWNER_STYLES = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama.cpp"}
"""Mapping from values of `owned_by` in a server's list of models to the server's thinking style."""


class DetectedStyle(NamedTuple):
    """A detected thinking style. `evidence`: a phrase that says how the style was detected."""

    style: str
    evidence: str


def style_of_host(base_url: str) -> DetectedStyle | None:
    """Return the thinking style of a known host. Return None if the host is unknown."""
    if base_url == LITELLM_BASE_URL:
        return DetectedStyle("litellm", "LiteLLM")
    style = HOST_STYLES.get(parse_base_url(base_url).host)
    return None if style is None else DetectedStyle(style, "its host")


async def style_of_server(base_url: str, access: Access) -> DetectedStyle | None:
    """Return a server's thinking style, found by its list of models or by a /version like vLLM's.

    Return None if neither shows it.

    Raises:
        ProviderError: If the server cannot be reached.
    """
    for owner in await list_owners(base_url, access):
        if owner in OWNER_STYLES:
            return DetectedStyle(OWNER_STYLES[owner], "its list of models")
    return DetectedStyle("vllm", "its /version") if await has_version_route(base_url, access) else None
