"""Loads the pack and handles the host's calls. It is the counterpart of `packs/node/runner.cjs`."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .calls import CURRENT, call
from .cell import CELL, Cell
from .channel import Channel
from .logger import Logger
from .values import describe_error, to_json

MEBI = 2**20


class Runner:
    """Handles the host's messages. Each call, {id, call, ...}, is answered by one "ok" or "error" frame."""

    def __init__(self, settings: dict[str, Any], channel: Channel) -> None:
        self._settings = settings
        self._channel = channel
        self._cells: dict[int, Cell] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pack: Any = None
        self._prepared: Any = None
        self._context: dict[str, Any] = {}

    def take(self, given: dict[str, Any]) -> None:
        """Start to handle a message of the host, and return at once."""
        if given["call"] == "abort":
            self._abort(given)
        elif given["call"] == "forget":
            self._end(given["of"])
        else:
            task = asyncio.get_running_loop().create_task(self._answer(given))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _abort(self, given: dict[str, Any]) -> None:
        cell = self._cells.get(given["of"])
        if cell is None:
            return
        try:
            cell.abort(given["reason"])
        except Exception as error:
            self._channel.send(given["of"], "rejected", json.dumps(describe_error(error)))

    def _end(self, number: int) -> None:
        cell = self._cells.pop(number, None)
        if cell is not None:
            cell.end()

    async def _answer(self, given: dict[str, Any]) -> None:
        number = given["id"]
        CURRENT.set(number)
        started, wall = time.monotonic(), datetime.now(UTC)
        value, error = None, None
        try:
            value = await getattr(self, f"_{given['call']}")(given)
        except BaseException as raised:
            error = raised
        cell = self._cells.pop(number, None)
        if cell is not None:
            cell.emit.over = True
        about = {
            "startedAt": wall.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "durationMs": round((time.monotonic() - started) * 1000),
            "trouble": cell.trouble if cell else None,
        }
        if error is None:
            error = self._send_value(number, value, about)
        if error is not None:
            self._channel.send(number, "error", json.dumps({"error": error_of(error), "about": about}))

    def _send_value(self, number: int, value: Any, about: dict[str, Any]) -> BaseException | None:
        try:
            text, odd = to_json(value)
            frame = f'{{"value":{text},"odd":{json.dumps(odd)},"about":{json.dumps(about)}}}'
            if self._channel.send(number, "ok", frame):
                return None
            most = self._settings["messageBytes"] // MEBI
            return Unusable(
                f"what it returned is {len(frame) // MEBI} MiB of JSON, more than the {most} MiB allowed"
            )
        except Exception as error:
            return Unusable(str(error))

    # Calls by the host

    async def _load(self, given: dict[str, Any]) -> Any:
        module = _imported(self._settings["entry"], self._settings["directory"])
        candidates = [getattr(module, name, None) for name in ("pack", "default")]
        self._pack = next((found for found in candidates if _has(found, "list_scenarios")), module)
        for name in ("list_scenarios", "prepare", "score_model_results"):
            if not _has(self._pack, name):
                raise AttributeError(f"the entry module has no {name}()")
        scenarios = await call(_function(self._pack, "list_scenarios"))
        runtime = f"Python {platform.python_version()}"
        return {"manifest": _part(self._pack, "manifest"), "scenarios": scenarios, "runtime": runtime}

    async def _prepare(self, given: dict[str, Any]) -> None:
        os.environ.update(given["environment"])
        self._context = {**given["context"], "logger": Logger(self._channel)}
        self._prepared = await call(_function(self._pack, "prepare"), self._context)
        if not _has(self._prepared, "run_scenario"):
            raise AttributeError("prepare() returned an object without run_scenario()")

    async def _run(self, given: dict[str, Any]) -> Any:
        cell = Cell(given, self._context, self._channel)
        self._cells[given["id"]] = cell
        CELL.set(cell)
        cell.task = asyncio.current_task()
        return await call(_function(self._prepared, "run_scenario"), cell.input, cell.emit)

    async def _score(self, given: dict[str, Any]) -> Any:
        return await call(_function(self._pack, "score_model_results"), given["results"])

    async def _dispose(self, given: dict[str, Any]) -> None:
        if _has(self._prepared, "dispose"):
            await call(_function(self._prepared, "dispose"))

    async def _ping(self, given: dict[str, Any]) -> None:
        return None


class Unusable(Exception):
    """Raised for a return value of the pack that cannot be sent to the host."""


def error_of(error: BaseException) -> dict[str, Any]:
    """Convert an error into the JSON object that is sent to the host."""
    if isinstance(error, Unusable):
        return {"message": str(error), "unusable": True}
    return describe_error(error)


def _imported(entry: str, directory: str) -> Any:
    sys.path[:0] = [str(Path(entry).parent), directory]
    spec = importlib.util.spec_from_file_location("benchwright_pack_entry", entry)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _part(holder: Any, name: str) -> Any:
    """Return an attribute or item, found by its Python name or its name in the protocol.

    Return None if it is missing.
    """
    for known in (name, _camel(name)):
        found = holder.get(known) if isinstance(holder, dict) else getattr(holder, known, None)
        if found is not None:
            return found
    return None


def _has(holder: Any, name: str) -> bool:
    return callable(_part(holder, name))


def _function(holder: Any, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = _part(holder, name)
    return found
