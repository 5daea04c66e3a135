"""Which protection is chosen, what it says of itself, and what is said where there is none."""

from __future__ import annotations

import shutil

import pytest

from benchwright.errors import ExecutionError, UserError
from benchwright.sandbox import IsolationMethod, Limits, LocalSandbox, choose_isolation_method
from benchwright.sandbox.isolation_methods import ISOLATION_METHOD_NAMES, find_isolation_method


def works(name: str) -> bool:
    try:
        choose_isolation_method(name)
    except UserError:
        return False
    return True


def test_the_strongest_that_works_is_chosen() -> None:
    working = [name for name in ISOLATION_METHOD_NAMES if works(name)]
    assert choose_isolation_method().name == working[0]
    assert LocalSandbox().isolation_method == choose_isolation_method()


def test_the_weakest_says_so_plainly() -> None:
    words = find_isolation_method("limits").description
    assert "WEAK" in words
    assert "no file system" in words
    assert all("WEAK" not in find_isolation_method(name).description for name in ("bubblewrap", "namespaces"))


def test_a_name_that_there_is_not_lists_those_there_are() -> None:
    with pytest.raises(UserError, match="choose from bubblewrap, namespaces, limits"):
        choose_isolation_method("chroot")


def test_bubblewrap_that_is_not_installed_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchwright.sandbox import isolation_methods

    isolation_methods._failure.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    try:
        with pytest.raises(UserError, match=r"'bwrap' is not installed \(Debian package: bubblewrap\)"):
            choose_isolation_method("bubblewrap")
    finally:
        isolation_methods._failure.cache_clear()


async def test_a_sandbox_that_does_not_start_says_why() -> None:
    sandbox = LocalSandbox(Limits(disk_bytes=0), protection=IsolationMethod("bubblewrap", ""))
    with pytest.raises(ExecutionError, match="the sandbox did not start: "):
        await sandbox.run(["true"])
