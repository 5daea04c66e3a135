"""Stop, resume and retry a run: by the same command line that a person would type."""

from __future__ import annotations

from typing import NoReturn

from aiohttp import web

from benchwright.app.existing_runs import existing_run
from benchwright.errors import UserError
from benchwright.web.locks import interrupt
from benchwright.web.off_loop import off_loop
from benchwright.web.viewer import VIEWER, Viewer


async def stop(request: web.Request) -> NoReturn:
    """Asks the process at work on the run to stop; what is in flight is finished."""
    viewer, run = request.app[VIEWER], request.match_info["run"]
    await off_loop(lambda: interrupt(viewer.runs.directory(run)))
    raise web.HTTPSeeOther(f"/runs/{run}")


async def resume(request: web.Request) -> NoReturn:
    """Goes on with an unfinished run."""
    viewer, run = request.app[VIEWER], request.match_info["run"]
    await off_loop(_go_on, viewer, run, "resume", [])
    raise web.HTTPSeeOther(f"/runs/{run}")


async def retry(request: web.Request) -> NoReturn:
    """Makes what failed again, or with `scenario` these scenarios of a pack."""
    viewer, run = request.app[VIEWER], request.match_info["run"]
    form = await request.post()
    scenarios = [str(value) for value in form.getall("scenario", [])]
    options = [f"--scenario={scenario}" for scenario in scenarios]
    await off_loop(_go_on, viewer, run, "retry", options)
    raise web.HTTPSeeOther(f"/runs/{run}")


def _go_on(viewer: Viewer, run: str, command: str, options: list[str]) -> None:
    if viewer.runs.row(run).state == "running":
        raise UserError(f"{run} is running already.")
    former = viewer.started.of_run(run)
    if former is not None and former.code is None:
        raise UserError(f"{run} is being started already.")
    directory = viewer.runs.directory(run)
    if command == "resume" and existing_run(str(directory)).state == "finished":
        raise UserError(f"{run} is finished.")
    viewer.started.start([command, str(directory), *options, "--quiet"], f"{command} {run}", run=run)
