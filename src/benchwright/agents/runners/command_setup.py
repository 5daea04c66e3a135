"""Set-up for the commands that osmosis_ai documents: loads the agent, reads the dataset, creates the model's client.

Each function that can fail returns (result, None) or (None, error message).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.agents.loading import load_agent as load_agent_or_raise
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.datasets import DatasetReader, DatasetRow
from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.errors import BenchwrightError
from benchwright.text import make_lines_safe

if TYPE_CHECKING:
    from rich.console import Console

logger = logging.getLogger(__name__)


def build_completion_params(temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    """Return the body fields of requests for a temperature and a token limit. A setting that is None is left out."""
    params = {"temperature": temperature, "max_tokens": max_tokens}
    return {name: value for name, value in params.items() if value is not None}


def load_agent(
    module: str, quiet: bool, console: Console
) -> tuple[RolloutAgentLoop, None] | tuple[None, str]:
    """Load the agent named by `module:attribute`."""
    _say(console, quiet, f"Loading agent: {module}")
    try:
        agent = load_agent_or_raise(module)
    except BenchwrightError as error:
        return None, str(error)
    _say(console, quiet, f"  Agent name: {agent.name}")
    return agent, None


def load_dataset_rows(
    dataset_path: str,
    limit: int | None,
    offset: int,
    quiet: bool,
    console: Console,
    empty_error: str,
    action_label: str,
) -> tuple[list[DatasetRow], None] | tuple[None, str]:
    """Read and check the rows of a dataset. `empty_error`: the error message if there are no rows."""
    _say(console, quiet, f"Loading dataset: {dataset_path}")
    try:
        reader = DatasetReader(dataset_path)
        rows = reader.read(limit, offset)
        total = len(reader)
    except BenchwrightError as error:
        return None, str(error)
    if not rows:
        return None, empty_error
    part = f" ({action_label} {len(rows)})" if len(rows) < total else ""
    _say(console, quiet, f"  Total rows: {total}{part}")
    return rows, None


def create_llm_client(
    model: str,
    api_key: str | None,
    base_url: str | None,
    quiet: bool,
    console: Console,
    access: Access = ANONYMOUS_ACCESS,
) -> tuple[ExternalLLMClient, None] | tuple[None, str]:
    """Create a client of the model. Without a base URL, also check the model's provider and key."""
    if base_url:
        _say(console, quiet, f"Connecting to endpoint: {base_url}")
    else:
        provider = model.partition("/")[0] if "/" in model else "openai"
        _say(console, quiet, f"Initializing provider: {provider}")
    try:
        given = replace(access, api_key=api_key)
        target = find_target(model, base_url, access=given)
        check_target(target, find_access(given, target, logger.warning))
        client = ExternalLLMClient.with_access(model, base_url, given)
    except BenchwrightError as error:
        return None, str(error)
    _say(console, quiet, f"  Model: {client.display_name}")
    return client, None


def _say(console: Console, quiet: bool, line: str) -> None:
    from rich.text import Text

    if not quiet:
        console.print(Text(make_lines_safe(line)))
