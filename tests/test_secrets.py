"""Secrets are replaced wherever they turn up."""

from __future__ import annotations

import base64
import io
import json
import logging
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.secrets import MIN_SECRET_LENGTH, SECRETS, SecretFilter, Secrets

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

    @pytest.mark.parametrize("value", [None, "", "EMPTY", "x" * (MIN_SECRET_LENGTH - 1)])
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

    @given(st.text(min_size=MIN_SECRET_LENGTH), st.text(max_size=9))
    def test_stays_json_and_holds_no_secret(self, secret: str, around: str) -> None:
        redacted = knowing(secret).redact_json(msgspec.json.encode([f"{around}\n{secret}\n{around}"]))
        (text,) = json.loads(redacted)
        assert text.count("[secret]") >= 1


KEYS = st.one_of(
    st.from_regex(r"sk-[A-Za-z0-9_/+=.%-]{6,30}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=MIN_SECRET_LENGTH, max_size=20),
)


@st.composite
def escaped(draw: st.DrawFn, text: str) -> str:
    """A text as the inside of a JSON string, each character escaped in any way that stands for it."""
    return "".join(draw(st.sampled_from(_ways(character))) for character in text)


def _ways(character: str) -> list[str]:
    units = character.encode("utf-16-be").hex()
    lower = "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
    upper = lower.upper().replace("\\U", "\\u")
    slash = ["\\/"] if character == "/" else []
    return [
        json.dumps(character, ensure_ascii=False)[1:-1],
        json.dumps(character)[1:-1],
        lower,
        upper,
        *slash,
    ]


def _unescaped(text: str) -> str:
    """What another reading of JSON would make of a text: escapes of any depth undone."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\\/", "/")


class TestEscapes:
    @given(st.data(), KEYS, st.text(max_size=9), st.integers(0, 2))
    def test_of_json_hide_no_secret(self, data: st.DataObject, key: str, around: str, depth: int) -> None:
        """`depth` is how often the JSON was put into a string of other JSON, as arguments of tool calls are."""
        encoded = f'"{data.draw(escaped(around))}{data.draw(escaped(key))}{data.draw(escaped(around))}"'
        for _ in range(depth):
            encoded = json.dumps(encoded, ensure_ascii=data.draw(st.booleans()))
        redacted = text = knowing(key).redact_json(encoded.encode("utf-8", "surrogatepass")).decode()
        assert "[secret]" in redacted
        for _ in range(depth + 1):
            text = json.loads(text)
        if key not in f"{around}[secret]{around}":
            for form in (redacted, text, _unescaped(redacted), _unescaped(text)):
                assert key not in form

    @given(st.data(), st.from_regex(r"sk-[A-Za-z0-9_/-]{6,30}", fullmatch=True))
    def test_of_json_in_a_message_hide_none(self, data: st.DataObject, key: str) -> None:
        said = knowing(key).redact(f"HTTP 401: wrong key {data.draw(escaped(key))}, try another")
        assert said == "HTTP 401: wrong key [secret], try another"

    @given(st.data(), KEYS)
    def test_of_addresses_hide_none(self, data: st.DataObject, key: str) -> None:
        coded = "".join(
            data.draw(st.sampled_from([character, quote(character), *_percents(character)]))
            for character in key
        )
        for said in (
            knowing(key).redact(f"GET /?key={coded}&x"),
            json.loads(knowing(key).redact_json(json.dumps(f"GET /?key={coded}&x").encode())),
        ):
            assert key not in said
            assert key not in unquote(said)

    @given(KEYS, st.binary(max_size=9), st.binary(max_size=9), st.booleans())
    def test_of_base64_hide_none(self, key: str, before: bytes, after: bytes, for_addresses: bool) -> None:
        encode = base64.urlsafe_b64encode if for_addresses else base64.b64encode
        coded = encode(before + key.encode() + after).decode()
        assert "[secret]" in knowing(key).redact(f"Authorization: Basic {coded}")
        assert b"[secret]" in knowing(key).redact_json(json.dumps([coded]).encode())

    @given(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=5), st.booleans())
    def test_where_there_is_no_secret_change_nothing(self, content: object, ascii_only: bool) -> None:
        encoded = json.dumps(content, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert knowing(KEY, AWKWARD).redact_json(encoded) == encoded

    def test_of_html_hide_none(self) -> None:
        assert knowing('sk-<&">abc').redact("<p>sk-&lt;&amp;&quot;&gt;abc</p>") == "<p>[secret]</p>"


def _percents(character: str) -> list[str]:
    lower = "".join(f"%{byte:02x}" for byte in character.encode())
    return [lower, lower.upper()]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a logger writes through the filter, to which one key is known."""
    monkeypatch.setattr(SECRETS, "_secrets", [])
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
