"""Which headers a user may add, and which of them are secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.headers import check_header_name, check_header_value, is_secret_header, secret_parts


@pytest.mark.parametrize("name", ["X-Team", "authorization", "Host", "User-Agent", "x_odd", "Accept"])
def test_a_user_may_set_what_says_what_is_asked(name: str) -> None:
    assert check_header_name(name) == name


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection", "Accept-Encoding"])
def test_a_user_may_not_set_how_bytes_travel(name: str) -> None:
    with pytest.raises(ValueError, match="it says how bytes travel"):
        check_header_name(name)


@pytest.mark.parametrize("name", ["", "X Team", "X-Team:", "X-Täm", "X\r\nY", "(x)"])
def test_a_name_is_a_token(name: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        check_header_name(name)


@given(st.text(max_size=30))
def test_a_value_that_is_taken_is_one_line_of_visible_characters(value: str) -> None:
    visible = value.strip(" \t")
    if visible and all(" " <= one <= "~" or one == "\t" for one in visible):
        assert check_header_value("X", value) == visible
    else:
        with pytest.raises(ValueError, match=r"has no value|invalid in an HTTP header"):
            check_header_value("X", value)


def test_what_is_wrong_with_a_value_is_told_without_the_value() -> None:
    with pytest.raises(ValueError, match="the value of X-Api-Key has characters") as caught:
        check_header_value("X-Api-Key", "sk-secret\r\nX-Other: 1")
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "cf-aig-authorization", "X-Api-Key", "api-key", "x-apikey", "Cookie", "X-Auth"),
        *(
            "Ocp-Apim-Subscription-Key",
            "CF-Access-Client-Secret",
            "x-goog-iap-jwt-assertion",
            "X-Amz-Signature",
        ),
        *("x-portkey-virtual-key", "x-vercel-protection-bypass", "X_Access_Token", "Proxy-Authorization"),
    ],
)
def test_a_header_is_secret_by_its_name(name: str) -> None:
    assert is_secret_header(name, "anything")


@pytest.mark.parametrize("value", ["Bearer abc", "basic dXNlcg==", "sk-123", "eyJhbGciOi"])
def test_a_header_is_secret_by_how_its_value_begins(value: str) -> None:
    assert is_secret_header("X-Anything", value)


@pytest.mark.parametrize(
    "name",
    ["x-portkey-provider", "x-portkey-custom-host", "X-Monkey", "X-Author", "OpenAI-Organization", "Host"],
)
def test_other_headers_may_be_shown(name: str) -> None:
    assert not is_secret_header(name, "openai")


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("plain-token-1", ["plain-token-1"]),
        ("Bearer abcdefgh123", ["Bearer abcdefgh123", "abcdefgh123"]),
        (
            "session=abcdefghij; theme=dark",
            ["session=abcdefghij; theme=dark", "session=abcdefghij", "theme=dark", "abcdefghij"],
        ),
        ("Basic dXNlcjpwYXNz==", ["Basic dXNlcjpwYXNz==", "dXNlcjpwYXNz=="]),
    ],
)
def test_a_server_may_repeat_a_secret_without_what_stands_before_it(value: str, parts: list[str]) -> None:
    assert secret_parts(value) == parts
