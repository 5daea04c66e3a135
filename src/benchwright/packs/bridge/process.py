"""A pack, loaded in its process: the interface of the bridge to the rest of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchwright.errors import ExecutionError, UserError
from benchwright.packs.bridge.call_errors import (
    CallTimeout,
    PackFailure,
    ProcessDied,
    format_error,
    provider_failure_of,
    to_trial_error,
)
from benchwright.packs.bridge.cell import CellResult
from benchwright.packs.bridge.commands import (
    LIBRARIES_VARIABLE,
    CommandBuilder,
    pack_command,
    pack_environment,
)
from benchwright.packs.bridge.connection import Connection, LogCallback, ProgressCallback, Reply
from benchwright.packs.bridge.error_location import find_syntax_error, location_in_pack
from benchwright.packs.bridge.limits import DEFAULT_LIMITS, BridgeLimits
from benchwright.packs.bridge.result_parsing import (
    add_provider_failure,
    parse_result,
    parse_scenarios,
    parse_score,
)
from benchwright.packs.types import BenchmarkScore, HostContext, ScenarioMeta, ScenarioRunInput, to_json

MAX_RESTARTS = 5
"""Maximum number of restarts of a cell that lost its process because of other cells."""


class PackProcess:
    """A pack in its own process. Use it as an async context manager. Entering the context loads the pack.

    `directory`: the pack's root. `entry`: the entry file, relative to the root; Python if its name ends in
    .py, JavaScript otherwise. `home`: the HOME and working directory of the process, created if missing.
    `environment`: variables added to the few variables that the process gets; they must not contain keys.
    `libraries`: the folder of the libraries that the desktop host (BenchLocal) supplies; see
    `packs.libraries`.

    Failures of the pack are contained. If a cell fails, hangs or ends the process, this is reported as an
    error of that cell, and the process is restarted for the other cells. A cell that lost its process by
    another cell's fault is restarted. If it is unknown which cell ended the process, each cell is restarted
    once.

    Raises (on entering):
        UserError: If Node is missing or too old, or the entry file does not exist in the pack.
        ExecutionError: If the pack did not load, or its list of scenarios cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        entry: str,
        *,
        home: Path,
        limits: BridgeLimits = DEFAULT_LIMITS,
        log: LogCallback | None = None,
        environment: Mapping[str, str] = {},
        node: str = "node",
        libraries: Path | None = None,
    ) -> None:
        self.manifest: dict[str, Any] | None = None
        self.scenarios: list[ScenarioMeta] = []
        self.runtime = ""
        self.restarts = 0
        self._directory, self._entry, self._home = directory, entry, home
        self._limits, self._node = limits, node
        self._log: LogCallback = log or (lambda level, message, data: None)
        self._relay_url: str | None = None
        self._way: Mapping[str, str] = {}
        supplied = {} if libraries is None else {LIBRARIES_VARIABLE: str(libraries)}
        self._environment = pack_environment(home, {**environment, **supplied})
        self._lock = asyncio.Lock()
        self._command: CommandBuilder | None = None
        self._connection: Connection | None = None
        self._context: dict[str, Any] | None = None
        self._broken: str | None = None
        self._cells: dict[str, tuple[Connection, int]] = {}

    async def __aenter__(self) -> PackProcess:
        path = _entry_path(self._directory, self._entry)
        self._home.mkdir(parents=True, exist_ok=True)
        self._command = await pack_command(self._entry, self._node, self._limits.memory_bytes)
        self._settings = {"entry": str(path), "directory": str(self._directory)}
        try:
            await self._live()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.dispose()
        finally:
            await self._stop()

    async def prepare(
        self, context: HostContext, relay_url: str | None = None, way: Mapping[str, str] = {}
    ) -> None:
        """Prepare the pack for a run. If the process is restarted, this is repeated automatically.

        From then on, requests that a cell sends to the origin of `relay_url` carry the cell's token. `way`:
        the environment variables from which the pack's clients learn the relay's address.

        Raises:
            ExecutionError: If the pack's `prepare` failed.
        """
        given = to_json(context)
        self._context = {**given, "sidecars": given["verifiers"]}
        self._relay_url, self._way = relay_url, way
        await self._live(prepared=True)

    async def run(
        self,
        cell: str,
        given: ScenarioRunInput,
        *,
        seconds: float | None = None,
        token: str | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> CellResult:
        """Run one scenario. Any number of scenarios can run concurrently. `cell`: an id of this run of the scenario.

        `seconds`: the time limit, None for none. `token`: see `prepare`. Cancelling sends an abort signal to
        the scenario and returns at once.

        Raises:
            ExecutionError: If the pack failed in any way. The message describes the failure in one line.
            ProviderError: If the scenario failed because the model's provider failed.
            LimitReached: If the scenario exceeded `seconds`.
        """
        fields = {"input": to_json(given), "token": token}
        reply = await self._call("run", fields, seconds, cell=cell, progress=on_progress)
        trouble = provider_failure_of(reply.metadata)
        value = reply.value
        if isinstance(value, dict):
            value = add_provider_failure(value, trouble)
            if value.get("timings") is None:
                value = {**value, "timings": _timings(reply.metadata)}
        result = parse_result(value, str(given.scenario.get("id")), reply.unrepresentable_numbers)
        if trouble is not None and result.status != "fail":
            trouble = None
        return CellResult(result, trouble)

    def abort(self, cell: str, reason: str = "the run was stopped") -> None:
        """Send an abort signal to a cell. `run` then ends with the result that the pack returns."""
        if cell in self._cells:
            connection, number = self._cells[cell]
            connection.abort(number, "AbortError", reason)

    async def score(self, results: Sequence[Mapping[str, Any]]) -> BenchmarkScore:
        """Let the pack compute a model's score.

        `results`: the results of the model, each exactly as the pack returned it.

        Raises:
            ExecutionError: If `scoreModelResults` failed or did not return a score.
        """
        reply = await self._call("score", {"results": list(results)}, self._limits.score_seconds)
        for key, number in reply.unrepresentable_numbers.items():
            self._log("warn", f"scoreModelResults: {key.lstrip('.')} is {number}", None)
        return parse_score(reply.value, reply.unrepresentable_numbers)

    async def dispose(self) -> None:
        """Let the pack dispose of its resources. A failure is logged and not raised."""
        connection, self._context = self._connection, None
        if connection is None or connection.is_over or not connection.prepared:
            return
        connection.prepared = False
        try:
            await connection.wait_for_result(
                connection.start_call("dispose", {}), self._limits.dispose_seconds
            )
        except (PackFailure, ProcessDied, CallTimeout) as problem:
            self._log("warn", str(to_trial_error("dispose", problem)), None)

    # Calls to a process that may have to be restarted

    async def _call(
        self,
        name: str,
        fields: dict[str, Any],
        seconds: float | None,
        *,
        cell: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> Reply:
        losses = suspected = 0
        while True:
            connection = await self._live(prepared=cell is not None)
            number = connection.start_call(name, fields, progress)
            try:
                with self._known_as(cell, connection, number):
                    return await connection.wait_for_result(
                        number, seconds, self._limits.grace_seconds if cell else 0.0
                    )
            except PackFailure as failure:
                raise to_trial_error(name, await self._placed(cell or name, failure)) from None
            except CallTimeout as timeout:
                raise to_trial_error(name, timeout) from None
            except ProcessDied as lost:
                losses += 1
                suspected += lost.may_be_cause
                if lost.is_cause or suspected > 1 or losses > MAX_RESTARTS:
                    raise to_trial_error(name, lost) from None
                self._log("warn", f"{lost.reason}; {cell or name} is restarted", None)

    @contextmanager
    def _known_as(self, cell: str | None, connection: Connection, number: int) -> Iterator[None]:
        if cell is None:
            yield
            return
        self._cells[cell] = connection, number
        try:
            yield
        finally:
            del self._cells[cell]

    async def _live(self, *, prepared: bool = False) -> Connection:
        """Return the connection to the process. If the process has ended, restart it.

        `prepared`: True if the pack must also be prepared for the run. This happens once per process.
        """
        async with self._lock:
            if self._broken is not None:
                raise ExecutionError(self._broken)
            if self._connection is None or self._connection.is_over:
                self._connection = await self._restarted()
            if prepared and not self._connection.prepared:
                await self._prepare(self._connection)
            return self._connection

    async def _restarted(self) -> Connection:
        if self._connection is not None:
            await self._stop()
            self.restarts += 1
            self._log("warn", "the pack's process is restarted", None)
        connection = self._connection = Connection(self._limits, self._log)
        assert self._command is not None
        await connection.start(self._command, self._environment, self._home, self._settings)
        loaded = await self._once("load", connection, {}, self._limits.load_seconds)
        if not isinstance(loaded, dict):
            raise ExecutionError("the pack did not load")
        self.scenarios = parse_scenarios(loaded.get("scenarios"))
        manifest = loaded.get("manifest")
        self.manifest = manifest if isinstance(manifest, dict) else None
        self.runtime = str(loaded.get("runtime"))
        return connection

    async def _prepare(self, connection: Connection) -> None:
        if self._context is None:
            raise ExecutionError("the pack is not prepared for a run")
        given = {"context": self._context, "relay": self._relay_url, "environment": dict(self._way)}
        await self._once("prepare", connection, given, self._limits.prepare_seconds)
        connection.prepared = True

    async def _once(self, name: str, connection: Connection, fields: dict[str, Any], seconds: float) -> Any:
        try:
            return (await connection.wait_for_result(connection.start_call(name, fields), seconds)).value
        except (PackFailure, ProcessDied, CallTimeout) as problem:
            if isinstance(problem, PackFailure):
                problem = await self._placed(name, problem)
            self._broken = str(to_trial_error(name, problem))
            raise ExecutionError(self._broken) from None
        except asyncio.CancelledError:
            connection.request_end(
                "it was abandoned while starting"
            )  # half of a pack is of no use to the next cell
            raise

    async def _placed(self, what: str, failure: PackFailure) -> PackFailure:
        """Log the stack of a failure. Return the failure with its file and line in the pack added."""
        stack = str(failure.error.get("stack") or "")
        if stack:
            self._log("error", f"{what} failed: {format_error(failure.error)}", stack)
        place = location_in_pack(stack, self._directory)
        if place is None and failure.error.get("name") == "SyntaxError" and not self._entry.endswith(".py"):
            place = await find_syntax_error(self._directory, self._node, self._environment)
        return PackFailure(failure.error, failure.metadata, place)

    async def _stop(self) -> None:
        if self._connection is not None:
            await self._connection.stop()


def _timings(about: Mapping[str, Any]) -> dict[str, Any]:
    started = datetime.fromisoformat(about["startedAt"])
    completed = started + timedelta(milliseconds=about["durationMs"])
    shown = completed.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"startedAt": about["startedAt"], "completedAt": shown, "durationMs": about["durationMs"]}


def _entry_path(directory: Path, entry: str) -> Path:
    root = directory.resolve()
    path = (root / entry).resolve()
    if not path.is_relative_to(root):
        raise UserError(f"the pack's entry {entry!r} lies outside the pack")
    if not path.is_file():
        raise UserError(f"the pack has no file {entry!r}, which its manifest names as its entry")
    return path
