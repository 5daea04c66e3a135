"""Which changes of a container are to what tests are run with, and which are not."""

from __future__ import annotations

import pytest

from benchwright.catalog.containers.sealing.called_programs import CalledPrograms
from benchwright.catalog.containers.sealing.changed_tools import find_changed_tools
from benchwright.sandbox.docker.snapshots import ChangeKind, FileChange

NOTHING = CalledPrograms()
LIBRARY = "/usr/local/lib/python3.12"
HOME = "/root"
"""Of the user in a container."""


def is_tool(
    path: str, kind: ChangeKind = "added", instruction: str = "", called: CalledPrograms = NOTHING
) -> bool:
    return bool(find_changed_tools([FileChange(path, kind)], instruction, ("/app",), called))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/usr/bin/python3.12", "changed"),
        ("/opt/venv/bin/python", "changed"),
        ("/usr/bin/bash", "deleted"),
        ("/usr/local/sbin/pytest", "added"),
        (f"{HOME}/.local/bin/uvx", "added"),
        ("/etc/ld.so.preload", "added"),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", "changed"),
        (f"{LIBRARY}/site-packages/evil.pth", "added"),
        (f"{LIBRARY}/sitecustomize.py", "added"),
        (f"{LIBRARY}/site-packages/_pytest/runner.py", "changed"),
        (f"{LIBRARY}/site-packages/_pytest/__pycache__/runner.cpython-312.pyc", "changed"),
        (f"{LIBRARY}/json/__init__.py", "changed"),
        ("/conftest.py", "added"),
        ("/pyproject.toml", "added"),
        ("/app/pytest.py", "added"),
        ("/app/subprocess.py", "added"),
        (f"{HOME}/.config/pip/pip.conf", "added"),
        (f"{HOME}/.cache/uv/wheels", "added"),
    ],
)
def test_programs_loader_start_up_and_pytest_are(path: str, kind: ChangeKind) -> None:
    assert is_tool(path, kind)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/app/main.py", "added"),
        ("/app/venv/bin/python", "added"),
        ("/app/conftest.py", "added"),
        ("/app/__pycache__/main.cpython-312.pyc", "added"),
        ("/app/json/data.json", "added"),
        ("/usr/bin/jq", "added"),
        (f"{LIBRARY}/site-packages/numpy/core.py", "added"),
        (f"{LIBRARY}/site-packages/__editable__.mine-1.0.pth", "added"),
        ("/etc/nginx/nginx.conf", "changed"),
        ("/etc/ld.so.cache", "changed"),
        ("/lib/x86_64-linux-gnu/libz.so.1", "added"),
    ],
)
def test_work_is_not(path: str, kind: ChangeKind) -> None:
    assert not is_tool(path, kind)


def test_what_the_task_asks_for_is_work() -> None:
    assert not is_tool("/usr/local/bin/curl", instruction="Install git and curl.")
    assert is_tool("/usr/local/bin/curl", instruction="Test your server with curl.")
    assert is_tool("/usr/bin/bash", "changed", "Install bash.")
    assert not is_tool("/app/calendar.py", instruction="Write calendar.py.")


def test_of_an_added_folder_only_the_folder_is_told() -> None:
    cache = f"{HOME}/.cache/uv"
    changes = [FileChange(path, "added") for path in (cache, f"{cache}/a", f"{cache}/a/b")]
    assert find_changed_tools(changes, "", ("/app",), NOTHING) == changes[:1]
