"""A sandbox under each protection that works on this machine."""

from __future__ import annotations

import os

import pytest

from benchwright.errors import UserError
from benchwright.sandbox import IsolationMethod, LocalSandbox, choose_isolation_method

WALLED = ("bubblewrap", "namespaces")


def protection_or_skip(name: str) -> IsolationMethod:
    try:
        return choose_isolation_method(name)
    except UserError as error:
        if name == "bubblewrap" and os.environ.get("CI"):
            pytest.fail(f"{error} (.ci/run installs it)")
        pytest.skip(str(error))


@pytest.fixture(params=[*WALLED, "limits"])
def sandbox(request: pytest.FixtureRequest) -> LocalSandbox:
    return LocalSandbox(protection=protection_or_skip(request.param))


@pytest.fixture(params=WALLED)
def walled(request: pytest.FixtureRequest) -> LocalSandbox:
    """A sandbox with a file system and processes of its own."""
    return LocalSandbox(protection=protection_or_skip(request.param))


@pytest.fixture
def strongest() -> LocalSandbox:
    """A sandbox under the protection that is chosen here, for what is the same under all."""
    return LocalSandbox()
