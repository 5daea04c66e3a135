"""`test`: runs an agent on a few dataset rows without scoring, to see whether it works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from pydantic import SecretStr

from benchwright.access_settings import AccessSettings
from benchwright.agents.mcp.loading import MCPLoadError, load_mcp_server
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.command_setup import (
    build_completion_params,
    create_llm_client,
    load_agent,
    load_dataset_rows,
)
from benchwright.agents.runners.datasets import DatasetRow
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol, batch_result
from benchwright.agents.runners.step_keys import out_of_range_message
from benchwright.agents.runners.stepping import StepConsole, Stepper, SteppingClient
from benchwright.agents.runners.test_mode import LocalTestBatchResult, LocalTestRunner, LocalTestRunResult
from benchwright.app.access import access_from_settings
from benchwright.app.settings_checks import check_agent, check_dataset, check_minimum_values
from benchwright.errors import UserError
from benchwright.text import make_lines_safe

if TYPE_CHECKING:
    from rich.console import Console

StepResult = TypeVar("StepResult")


class AgentTestSettings(AccessSettings):
    """Settings of `benchwright test`: an agent, a model and rows. Each field has the name of its option."""

    dataset: Path | None = None
    module: str | None = None
    mcp: Path | None = None
    limit: int | None = None
    offset: int = 0
    max_turns: int = 10

    model: str = "gpt-5-mini"
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    interactive: bool = False
    row: int | None = None
    debug: bool = False


class AgentTest:
    """A test of an agent that is ready to run: every check that needs no model has passed."""

    def __init__(
        self,
        settings: AgentTestSettings,
        agent: RolloutAgentLoop,
        client: ExternalLLMClient,
        rows: Sequence[DatasetRow],
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._client = client
        self._rows = rows
        self.indices = range(settings.offset, settings.offset + len(rows))
        self._done: list[LocalTestRunResult] = []
        self._started = monotonic()

    async def run(self, on_progress: Callable[[int, int, LocalTestRunResult], None]) -> LocalTestBatchResult:
        """Run all rows, and return their results; see `LocalTestRunner.run_batch`."""

        def note(current: int, total: int, result: LocalTestRunResult) -> None:
            self._done.append(result)
            on_progress(current, total, result)

        self._started = monotonic()
        async with self._client:
            return await self._run_rows(self._client, self.indices, note)

    def partial_results(self) -> LocalTestBatchResult:
        """Return the results of the rows that `run` finished before it was interrupted."""
        return batch_result(self._done, (monotonic() - self._started) * 1000, "interrupted")

    def make_stepper(self, person: StepConsole) -> Stepper:
        """Return the object that runs rows under the control of a person; `step_through` takes it."""
        return Stepper(person, self.indices)

    async def step_through(self, stepper: Stepper) -> None:
        """Run one row after another, as the person decides at each step; see `Stepper`."""
        client = SteppingClient(self._client, stepper)

        async def run_row(index: int) -> LocalTestRunResult:
            (result,) = (await self._run_rows(client, range(index, index + 1))).results
            return result

        row = self._settings.row
        async with self._client:
            await stepper.run_rows(self.indices.start if row is None else row, run_row)

    async def _run_rows(
        self,
        client: LocalLLMClientProtocol,
        indices: range,
        on_progress: Callable[[int, int, LocalTestRunResult], None] | None = None,
    ) -> LocalTestBatchResult:
        settings = self._settings
        runner = LocalTestRunner(self._agent, client, debug=settings.debug)
        return await runner.run_batch(
            [self._rows[index - settings.offset] for index in indices],
            max_turns=settings.max_turns,
            completion_params=build_completion_params(settings.temperature, settings.max_tokens),
            on_progress=on_progress,
            start_index=indices.start,
        )


def prepare_test(settings: AgentTestSettings, console: Console, *, quiet: bool = False) -> AgentTest:
    """Check everything that can be checked without a request, and return the test with its agent and rows loaded.

    Progress of loading is printed on the console.

    Raises:
        UserError: If something is missing, cannot be loaded, or is invalid. The message names it and says
            what to do.
    """
    check_test(settings)
    key = settings.api_key.get_secret_value() if settings.api_key is not None else None
    client = _made(
        create_llm_client(
            settings.model, key, settings.base_url, quiet, console, access_from_settings(settings, key)
        )
    )
    agent = _load_agent(settings, console, quiet)
    rows = _made(
        load_dataset_rows(
            str(settings.dataset),
            settings.limit,
            settings.offset,
            quiet,
            console,
            empty_error=f"{settings.dataset} has no rows to test (--offset {settings.offset}).",
            action_label="testing",
        )
    )
    test = AgentTest(settings, agent, client, rows)
    if settings.row is not None and settings.row not in test.indices:
        raise UserError(out_of_range_message(settings.row, test.indices))
    return test


def check_test(settings: AgentTestSettings) -> None:
    """Raise UserError for the first setting that is missing or contradicts another."""
    check_dataset(settings.dataset)
    check_agent(settings.module, settings.mcp)
    numbers = {
        "--limit": settings.limit,
        "--max-turns": settings.max_turns,
        "--max-tokens": settings.max_tokens,
    }
    check_minimum_values(numbers, settings.offset)
    if settings.row is not None and not settings.interactive:
        raise UserError("--row can only be used with --interactive.")


def _load_agent(settings: AgentTestSettings, console: Console, quiet: bool) -> RolloutAgentLoop:
    if settings.mcp is None:
        assert settings.module is not None
        return _made(load_agent(settings.module, quiet, console))
    from rich.text import Text

    from benchwright.agents.mcp.agent_loop import MCPAgentLoop

    agent = MCPAgentLoop(load_mcp_server(settings.mcp))
    tools = [tool.function.name for tool in agent.get_default_tools()]
    if not tools:
        raise MCPLoadError(f"The MCP server in {settings.mcp} has no tools; add some with @mcp.tool().")
    if not quiet:
        console.print(
            Text(make_lines_safe(f"Loading MCP tools: {settings.mcp}\n  Tools: {', '.join(tools)}"))
        )
    return agent


def _made(step: tuple[StepResult, None] | tuple[None, str]) -> StepResult:
    made, error = step
    if made is None:
        raise UserError(str(error))
    return made
