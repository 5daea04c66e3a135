"""`check` on a real server."""

from __future__ import annotations

import pytest
from tests.app.app_kit import NOWHERE
from tests.field.field_kit import Field, finish
from tests.field.servers.server import MODEL


@pytest.mark.feature("check")
def test_check_finds_the_model(field: Field) -> None:
    ended = field.run("check")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert MODEL in ended.stdout


@pytest.mark.feature("check")
def test_check_says_that_nobody_is_at_another_address(field: Field) -> None:
    ended = finish(field.program.start("check", "--model", MODEL, "--base-url", NOWHERE))
    assert ended.returncode == 1
    assert NOWHERE in ended.stdout + ended.stderr
