"""The fixtures of the field: a server that runs, and `benchwright` for its user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.field.field_kit import Field
from tests.field.kept import Unavailable
from tests.field.results import Results
from tests.field.servers import SERVERS
from tests.field.servers.server import Running

HERE = Path(__file__).parent
SECONDS = 900
"""How long a test may take: machines without a GPU that do other things beside are slow."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and give them time."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("feature"):
            item.add_marker(pytest.mark.field)
            item.add_marker(pytest.mark.timeout(SECONDS))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on every server of `FIELD_SERVERS`."""
    if "field" in metafunc.fixturenames:
        names = [name for name in os.environ.get("FIELD_SERVERS", "").split(",") if name]
        metafunc.parametrize("server_name", names or ["none"], scope="session")


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, server_name: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A server that runs for all of its tests."""
    if server_name not in SERVERS:
        pytest.skip("`make field` runs this, on real servers")
    try:
        with SERVERS[server_name].start(tmp_path_factory.mktemp(server_name)) as running:
            for plugin in request.config.pluginmanager.get_plugins():
                if isinstance(plugin, Results):
                    plugin.versions[server_name] = running.version
            yield running
    except Unavailable as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def field(request: pytest.FixtureRequest, server_name: str, tmp_path: Path) -> Iterator[Field]:
    """`benchwright` with a home of its own, and the server that it asks."""
    (feature,) = request.node.get_closest_marker("feature").args
    wanted = os.environ.get("FIELD_FEATURES", "")
    if wanted and feature not in wanted.split(","):
        pytest.skip("not among the features that were asked for")
    if server_name in SERVERS and (reason := SERVERS[server_name].without.get(feature)):
        pytest.skip(reason)
    running: Running = request.getfixturevalue("server")
    program = Program(tmp_path)
    try:
        yield Field(program, running)
    finally:
        program.end()
