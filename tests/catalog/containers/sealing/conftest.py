"""A real engine with the image of a workshop, in which agents and tests work."""

from __future__ import annotations

from tests.catalog.containers.workshop import workshop
from tests.sandbox.docker.conftest import engine, run_id, running_engine, sandboxes

__all__ = ["engine", "run_id", "running_engine", "sandboxes", "workshop"]
