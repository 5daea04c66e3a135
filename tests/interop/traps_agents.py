"""Traps in folders of SWE-agent and mini-SWE-agent."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.foreign_kit import run_of
from tests.interop.trajectories_kit import mini, swe_agent
from tests.interop.trap_kit import (
    changed,
    cut,
    imported,
    notes,
    trap,
)

from benchwright.interop.foreign_results import UnreadableResults
from benchwright.records import Status


def _agents(name: str, write: Callable[..., Path]) -> None:
    def files(folder: Path) -> list[Path]:
        return sorted(folder.glob("*/*.traj*"))

    @trap(name, "prefix")
    def _(folder: Path) -> None:
        write(folder / "out", "a__b-1", "one")
        out = write(folder / "out", "a__b-11", "eleven")
        assert {trial.sample: trial.answer for trial in run_of(out)[1]} == {
            "a__b-1": "one",
            "a__b-11": "eleven",
        }

    @trap(name, "version")
    def _(folder: Path) -> None:
        out = write(folder / "out", "a__b-1", "diff")

        def old(found: Any) -> None:
            found["info"] = {"exit_status": found["info"]["exit_status"], "submission": "diff"}
            found.pop("replay_config", None)
            found.pop("trajectory_format", None)
            found.pop("instance_id", None)

        changed(files(out)[0], old)
        _, (trial,) = run_of(out)
        assert (trial.sample, trial.answer, trial.status) == ("a__b-1", "diff", Status.ANSWERED)

    @trap(name, "missing")
    def _(folder: Path) -> None:
        write(folder / "out", "a__b-1", "diff")
        out = write(folder / "out", "a__b-2", "diff")
        files(out)[1].unlink()
        assert "It tells of 2 trials; 1 are in its files." in notes(out)

    @trap(name, "doubles")
    def _(folder: Path) -> None:
        out = write(folder / "out", "a__b-1", "diff")
        copy = Path(shutil.copy(files(out)[0], out))
        assert [len(imported(out)), "1 trial stood twice, word for word" in notes(out)] == [1, True]
        changed(copy, lambda found: found["info"].update(submission="another diff"))
        with pytest.raises(
            UnreadableResults, match=r"sample 'a__b-1', repeat 1, appears twice, and the two differ"
        ):
            imported(out)

    @trap(name, "beside")
    def _(folder: Path) -> None:
        out = write(folder / "out", "a__b-1", "diff")
        imported(out)
        write(folder / "out", "a__b-2", "diff")
        (again,) = imported(out)
        assert again.is_new

    @trap(name, "damaged")
    def _(folder: Path) -> None:
        """A trajectory that is cut short is a failure; it does not keep the others from being read."""
        write(folder / "out", "a__b-1", "diff")
        out = write(folder / "out", "a__b-2", "diff")
        cut(files(out)[0])
        found = {trial.sample: trial.status for trial in run_of(out)[1]}
        assert found == {"a__b-1": Status.EXECUTION_ERROR, "a__b-2": Status.ANSWERED}
        assert "The records of 1 trial are damaged" in notes(out)


_agents("mini-swe-agent", mini)
_agents("swe-agent", swe_agent)
