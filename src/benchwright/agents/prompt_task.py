"""A dataset of prompts as an engine task. Each prompt is sent once, and no code by the user is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.agents.rows import RowsTask, SampleRows
from benchwright.data.columns import PromptColumns
from benchwright.data.rows import Row, name_file_in_errors
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Scorer, Session
from benchwright.errors import UserError
from benchwright.records import Message, Outcome, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

TASK_VERSION = "1"
"""Version of the task. Increase it when the request for the same row would change."""

PROMPT_PLACEHOLDER = "{prompt}"
"""Placeholder in a template. It is replaced by the row's prompt."""


class PromptTask(RowsTask):
    """Engine task that sends one request per row of the dataset at `path`. The responses are scored with `scorers`.

    A sample's content is the row with the column names that osmosis_ai documents (see
    `PromptColumns.content`). `columns`: the names of columns that hold the prompt, the target and so on, if
    these are not the usual names. `needs_target`: False if a row may have no target. `system`: replaces the
    row's own system prompt. `template`: a text in which `{prompt}` is replaced by the row's prompt.

    Raises:
        DatasetError: If the file cannot be read, is empty, or lacks a required column.
        UserError: If the template has no `{prompt}`.
    """

    def __init__(
        self,
        path: Path,
        scorers: Sequence[Scorer],
        *,
        columns: Mapping[str, str] | None = None,
        needs_target: bool = True,
        system: str | None = None,
        template: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        group_by: str | None = None,
    ) -> None:
        rows = SampleRows(path, limit, offset, group_by)
        first = rows.first_row()
        with name_file_in_errors(path):
            parts = PromptColumns.find(first, columns, needs_target=needs_target)
        spec = TaskSpec(
            name=path.stem,
            version=TASK_VERSION,
            fingerprint=fingerprint("prompt", TASK_VERSION, system, template or PROMPT_PLACEHOLDER),
            group_by=group_by,
        )
        super().__init__(rows, spec, scorers, parts.convert_row)
        self._solver = PromptSolver(system, template or PROMPT_PLACEHOLDER)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PromptSolver]:
        """Yield the solver. Nothing needs to be started."""
        yield self._solver


class PromptSolver:
    """Solver that sends one request per trial."""

    def __init__(self, system: str | None, template: str) -> None:
        if PROMPT_PLACEHOLDER not in template:
            raise UserError(
                f"The prompt template has no {PROMPT_PLACEHOLDER}, where the row's prompt goes: {template!r}"
            )
        self._system = system
        self._before, self._after = template.split(PROMPT_PLACEHOLDER, 1)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send the prompt, and return the outcome. The answer is the text of the response, without reasoning."""
        messages = self.messages(trial.sample.content)
        reply = await session.chat(messages)
        messages.append(reply.message)
        status, reason = answer_status(reply)
        return Outcome(status, messages, reply.text, reason)

    def messages(self, content: Row) -> list[Message]:
        """Return the messages for a row: the row's system prompt, if there is one, and the row's prompt."""
        system = self._system if self._system is not None else content.get("system_prompt")
        prompt = {"role": "user", "content": f"{self._before}{content['user_prompt']}{self._after}"}
        return [prompt] if system is None else [{"role": "system", "content": system}, prompt]
