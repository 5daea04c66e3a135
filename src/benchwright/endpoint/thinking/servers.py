"""Which style a server has: by its host, or by what it says of itself."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.endpoint.access import Access
from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.lite_llm import LITELLM
from benchwright.endpoint.server_info import list_owners, tells_version

HOSTS = {
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

OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama.cpp"}
"""What `owned_by` says in the list of models of servers that call themselves the owner."""


class FoundStyle(NamedTuple):
    """A style, and by what it was found."""

    style: str
    by: str


def style_of_host(base_url: str) -> FoundStyle | None:
    """The style of a known host; None where the host is not known."""
    if base_url == LITELLM:
        return FoundStyle("litellm", "LiteLLM")
    style = HOSTS.get(parse_base_url(base_url).host)
    return None if style is None else FoundStyle(style, "its host")


async def style_of_server(base_url: str, access: Access) -> FoundStyle | None:
    """The style of a server by its list of models, or by a /version as vLLM has it; None where neither says it.

    Raises:
        ProviderError: nobody can be reached.
    """
    for owner in await list_owners(base_url, access):
        if owner in OWNERS:
            return FoundStyle(OWNERS[owner], "its list of models")
    return FoundStyle("vllm", "its /version") if await tells_version(base_url, access) else None
