"""The engine for tests of the image, as the tests of containers have it."""

from __future__ import annotations

from tests.sandbox.docker.conftest import running_engine

__all__ = ["running_engine"]
