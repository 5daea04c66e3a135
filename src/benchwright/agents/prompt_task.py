"""A dataset asked as it stands, as a task of the engine: one prompt, one answer, no code of the user's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.agents.rows import RowsTask, SampleRows
from benchwright.data.columns import PromptColumns
from benchwright.data.rows import Row, naming
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Scorer, Session
from benchwright.errors import UserError
from benchwright.records import Message, Outcome, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

VERSION = "1"
"""To be raised when the same row would be asked differently."""

PLACE = "{prompt}"
"""What a template writes where the row's prompt goes."""


class PromptTask(RowsTask):
    """The task: the rows of the dataset at `path`, each asked once, and the scorers.

    A sample's content is the row under the documented names (see `PromptColumns.content`). `columns` names
    the columns of parts that do not have a conventional name; without `needs_target` a row may have nothing
    to compare with. `system` is said in place of the row's own system prompt. The row's prompt takes the
    place of `{prompt}` in `template`.

    Raises:
        DatasetError: the file cannot be read, is empty, or lacks a part.
        UserError: the template has no `{prompt}`.
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
        first = rows.first()
        with naming(path):
            parts = PromptColumns.find(first, columns, needs_target=needs_target)
        spec = TaskSpec(
            name=path.stem,
            version=VERSION,
            fingerprint=fingerprint("prompt", VERSION, system, template or PLACE),
            group_by=group_by,
        )
        super().__init__(rows, spec, scorers, parts.content)
        self._solver = PromptSolver(system, template or PLACE)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PromptSolver]:
        """Nothing has to be started."""
        yield self._solver


class PromptSolver:
    """Asks once per trial."""

    def __init__(self, system: str | None, template: str) -> None:
        if PLACE not in template:
            raise UserError(f"The prompt template has no {PLACE}, where the row's prompt goes: {template!r}")
        self._system = system
        self._before, self._after = template.split(PLACE, 1)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Asks the prompt; the answer's text, without its reasoning, is what is scored."""
        messages = self.messages(trial.sample.content)
        reply = await session.chat(messages)
        messages.append(reply.message)
        status, reason = answer_status(reply)
        return Outcome(status, messages, reply.text, reason)

    def messages(self, content: Row) -> list[Message]:
        """The conversation that asks a row: its system prompt, if there is one, and its prompt."""
        system = self._system if self._system is not None else content.get("system_prompt")
        prompt = {"role": "user", "content": f"{self._before}{content['user_prompt']}{self._after}"}
        return [prompt] if system is None else [{"role": "system", "content": system}, prompt]
