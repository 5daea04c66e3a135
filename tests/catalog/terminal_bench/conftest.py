"""A real engine with the image of a workshop; what these tests build and start is gone in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.catalog.containers.workshop import workshop
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import answers, docker

from benchwright.sandbox.docker.ownership import BUILT_FOR_LABEL, PROCESS_LABEL, unique_process_id

__all__ = ["running_engine", "workshop"]


@pytest.fixture
def nothing_left(workshop: str) -> Iterator[None]:
    """No container, network and snapshot of this process may be there in the end."""
    yield
    ours = f"label={PROCESS_LABEL}={unique_process_id()}"
    assert docker("ps", "--all", "--quiet", "--filter", ours) == ""
    assert docker("network", "ls", "--quiet", "--filter", ours) == ""
    assert docker("images", "--quiet", "--filter", ours) == ""


@pytest.fixture(scope="session", autouse=True)
def built_images_removed() -> Iterator[None]:
    """Images of the tests' own tasks go."""
    yield
    if not answers():
        return
    listed = docker("images", "--filter", f"label={BUILT_FOR_LABEL}", "--format", "{{.Repository}}:{{.Tag}}")
    for image in listed.split():
        if image.startswith("benchwright/terminal-bench-") and "-tbtest-" in image:
            docker("rmi", "--force", image)
