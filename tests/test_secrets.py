"""Secrets are replaced wherever they turn up."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.secrets import SECRETS, SHORTEST, SecretFilter, Secrets

KEY = "sk-abcdefghijkl"
AWKWARD = 'pass"word\\with\tümläuts/and 🎉'


def knowing(*values: str | None) -> Secrets:
    secrets = Secrets()
    for value in values:
        secrets.add(value)
    return secrets


class TestText:
    def test_has_every_secret_replaced_wherever_it_stands(self) -> None:
        secrets = knowing(KEY, "another-key")
        assert secrets.redact(f"{KEY}, x{KEY}x and another-key") == "[secret], x[secret]x and [secret]"

    def test_without_secrets_stays_as_it_is(self) -> None:
        assert knowing(KEY).redact("nothing here") == "nothing here"

    def test_a_secret_within_another_leaves_no_remains(self) -> None:
        assert knowing("sk-abc", "sk-abcdef").redact("sk-abcdef") == "[secret]"

    @pytest.mark.parametrize("value", [None, "", "EMPTY", "x" * (SHORTEST - 1)])
    def test_what_is_no_secret_is_not_replaced(self, value: str | None) -> None:
        assert knowing(value).redact(f"EMPTY {value}") == f"EMPTY {value}"


class TestJson:
    @pytest.mark.parametrize("value", [KEY, AWKWARD])
    def test_has_secrets_replaced_however_they_are_escaped(self, value: str) -> None:
        secrets, content = knowing(value), {"note": f"<{value}>"}
        for encoded in (
            json.dumps(content).encode(),
            json.dumps(content, ensure_ascii=False).encode(),
            msgspec.json.encode(content),
        ):
            assert json.loads(secrets.redact_json(encoded)) == {"note": "<[secret]>"}

    @given(st.text(min_size=SHORTEST), st.text(max_size=9))
    def test_stays_json_and_holds_no_secret(self, secret: str, around: str) -> None:
        redacted = knowing(secret).redact_json(msgspec.json.encode([f"{around}\n{secret}\n{around}"]))
        (text,) = json.loads(redacted)
        assert text.count("[secret]") >= 1


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a logger writes through the filter, to which one key is known."""
    monkeypatch.setattr(SECRETS, "_texts", [])
    SECRETS.add(KEY)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(SecretFilter())
    logger = logging.getLogger("test_secrets")
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


class TestLogging:
    def test_messages_lose_their_secrets(self, log: io.StringIO) -> None:
        logging.getLogger("test_secrets").warning(f"the key is {KEY}")
        assert log.getvalue() == "the key is [secret]\n"

    def test_arguments_lose_theirs(self, log: io.StringIO) -> None:
        logging.getLogger("test_secrets").warning("%s: %d %%", {"key": KEY}, 5)
        assert log.getvalue() == "{'key': '[secret]'}: 5 %\n"

    def test_tracebacks_lose_theirs(self, log: io.StringIO) -> None:
        try:
            raise ValueError(f"bad key {KEY}")
        except ValueError:
            logging.getLogger("test_secrets").exception("failed")
        assert "ValueError: bad key [secret]" in log.getvalue()
        assert KEY not in log.getvalue()

    def test_other_messages_stay_as_they_are(self, log: io.StringIO) -> None:
        logging.getLogger("test_secrets").warning("100 % fine")
        assert log.getvalue() == "100 % fine\n"

    def test_a_faulty_logging_call_is_shown_and_harms_nobody(self, log: io.StringIO) -> None:
        logging.getLogger("test_secrets").warning("%d keys", KEY)
        assert log.getvalue().startswith("'%d keys' cannot be formatted: ")
        assert KEY not in log.getvalue()
