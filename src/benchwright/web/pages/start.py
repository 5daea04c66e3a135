"""Pages and forms that start, stop, resume and retry runs. They start the commands that a person could type."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from aiohttp import web

from benchwright.app.pack_store import installed_packs
from benchwright.app.run_lookup.existing_runs import find_existing_run
from benchwright.catalog.registry import list_abouts
from benchwright.errors import UserError
from benchwright.runs.locks import interrupt_run
from benchwright.secrets import SECRETS
from benchwright.web.command_line import command_line_options, repeat_command
from benchwright.web.rendering import render_page
from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY, Viewer


def _number_or_auto(text: str) -> int | str:
    return text if text == "auto" else int(text)


NUMERIC_SETTINGS: dict[str, tuple[str, Callable[[str], float | str]]] = {
    "n": ("Repeats", int),
    "concurrency": ("Trials in flight at once, or auto", _number_or_auto),
    "max_samples": ("Most samples", int),
    "max_tokens": ("Maximum tokens per answer", int),
    "temperature": ("Temperature", float),
    "budget_tokens": ("Stop after this many tokens", int),
    "budget_seconds": ("Stop after this many seconds", float),
}
"""Settings of the form that are numbers: name of the setting -> (label, parser)."""

BENCHMARK, PACK, RUN, CONFIGURATION = "benchmark:", "pack:", "run:", "configuration:"
"""Prefixes of the choices in the form. The prefix says which kind of thing is to be run.

`BENCHMARK`: a benchmark. `PACK`: a bench pack. `RUN`: an earlier run. `CONFIGURATION`: a TOML file.
"""

API_KEY_VARIABLE = "BENCHWRIGHT_API_KEY"
MAX_SELECTABLE_RUNS = 100
"""Maximum number of earlier runs that can be chosen. These are the newest runs."""


async def start_page(request: web.Request) -> web.Response:
    """Serve the form that starts a run.

    If the query has `part`, serve only the list of runs that were started from pages.
    """
    viewer = request.app[VIEWER_KEY]
    if "part" in request.query:
        return await run_in_thread(
            lambda: render_page("part_started.html", started=viewer.started.all_commands())
        )
    return await run_in_thread(_form, viewer, request.query.get("like", ""))


def _form(viewer: Viewer, run: str) -> web.Response:
    filled: dict[str, Any] = {}
    if run:
        settings = viewer.runs.manifest(run).settings
        named = {
            name: settings[name] for name in (*NUMERIC_SETTINGS, "model", "base_url") if name in settings
        }
        filled = {**named, "what": RUN + run}
    return render_page(
        "start.html",
        filled=filled,
        numbers=NUMERIC_SETTINGS,
        choices=_choices(viewer),
        started=viewer.started.all_commands(),
    )


def _choices(viewer: Viewer) -> dict[str, list[tuple[str, str]]]:
    benchmarks = [(BENCHMARK + one.full_name, f"{one.full_name}: {one.description}") for one in list_abouts()]
    packs = [(PACK + pack.id, pack.id) for pack in installed_packs()]
    files = [(CONFIGURATION + name, name) for name in _configurations()]
    runs = [(RUN + row.id, f"{row.name} ({row.id})") for row in viewer.runs.rows()[:MAX_SELECTABLE_RUNS]]
    return {
        "Benchmarks": benchmarks,
        "Bench packs": packs,
        "Configurations of evaluations here": files,
        "As an earlier run": runs,
    }


def _configurations() -> Iterator[str]:
    """Yield the TOML files with a section `eval` in the viewer's working directory."""
    for path in sorted(Path.cwd().glob("*.toml")):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(content.get("eval"), dict):
            yield path.name


async def start_run(request: web.Request) -> NoReturn:
    """Start the run that the form describes. If the form has `check`, only check the endpoint."""
    viewer = request.app[VIEWER_KEY]
    form = {name: str(value).strip() for name, value in (await request.post()).items()}
    await run_in_thread(_start, viewer, form)
    raise web.HTTPSeeOther("/start#started")


def _start(viewer: Viewer, form: Mapping[str, str]) -> None:
    key = form.get("api_key", "")
    SECRETS.add(key)
    environment = {API_KEY_VARIABLE: key} if key else {}
    if "check" in form:
        endpoint = {name: form[name] for name in ("model", "base_url") if form.get(name)}
        if "model" not in endpoint:
            raise UserError("Enter a model.")
        title = f"check of {endpoint['model']}"
        viewer.started.start(["check", *command_line_options(endpoint)], title, environment=environment)
        return
    command, directory = _command(viewer, form)
    viewer.started.start(
        [*command, "--quiet"], " ".join(command), environment=environment, directory=directory
    )


def _command(viewer: Viewer, form: Mapping[str, str]) -> tuple[list[str], Path | None]:
    """Return the command that the form describes, and its working directory.

    The directory is None if it is the viewer's own.

    Raises:
        UserError: If the form names nothing to run or no model, or a number is invalid.
    """
    what, changes = form.get("what", ""), _changes(form)
    if what not in {name for group in _choices(viewer).values() for name, _ in group}:
        raise UserError("Choose what to run.")
    if what.startswith(RUN):
        begun = find_existing_run(str(viewer.runs.directory(what.removeprefix(RUN))))
        if begun.manifest.kind == "eval" and "max_samples" in changes:
            changes["limit"] = changes.pop("max_samples")
        return repeat_command(begun, changes)
    if what.startswith(CONFIGURATION):
        if "max_samples" in changes:
            changes["limit"] = changes.pop("max_samples")
        return ["eval", f"--config={what.removeprefix(CONFIGURATION)}", *command_line_options(changes)], None
    if "model" not in changes:
        raise UserError("Enter a model.")
    name = what.removeprefix(BENCHMARK)  # `run` also recognises packs by their prefix
    return ["run", name, *command_line_options(changes)], None


def _changes(form: Mapping[str, str]) -> dict[str, Any]:
    changes: dict[str, Any] = {name: form[name] for name in ("model", "base_url") if form.get(name)}
    for name, (told, read) in NUMERIC_SETTINGS.items():
        if text := form.get(name):
            try:
                changes[name] = read(text)
            except ValueError:
                raise UserError(f"{told}: {text[:40]!r} is not a number.") from None
    if form.get("fresh"):
        changes["fresh"] = True
    return changes


async def stop_run(request: web.Request) -> NoReturn:
    """Ask the process of a run to stop, and redirect. Requests in flight are finished first."""
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]
    await run_in_thread(lambda: interrupt_run(viewer.runs.directory(run)))
    raise web.HTTPSeeOther(f"/runs/{run}")


async def resume_run(request: web.Request) -> NoReturn:
    """Resume an unfinished run, and redirect."""
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]
    await run_in_thread(_go_on, viewer, run, "resume", [])
    raise web.HTTPSeeOther(f"/runs/{run}")


async def retry_run(request: web.Request) -> NoReturn:
    """Retry the failed trials of a run. If the form has `scenario`, retry these scenarios of a pack instead."""
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]
    form = await request.post()
    scenarios = [str(value) for value in form.getall("scenario", [])]
    options = [f"--scenario={scenario}" for scenario in scenarios]
    await run_in_thread(_go_on, viewer, run, "retry", options)
    raise web.HTTPSeeOther(f"/runs/{run}")


def _go_on(viewer: Viewer, run: str, command: str, options: list[str]) -> None:
    if viewer.runs.row(run).state == "running":
        raise UserError(f"{run} is running already.")
    former = viewer.started.last_of_run(run)
    if former is not None and former.exit_code is None:
        raise UserError(f"{run} is being started already.")
    directory = viewer.runs.directory(run)
    if command == "resume" and find_existing_run(str(directory)).state == "finished":
        raise UserError(f"{run} is finished.")
    viewer.started.start([command, str(directory), *options, "--quiet"], f"{command} {run}", run=run)
