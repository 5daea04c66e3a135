"""What is said of a request that failed: one line that names the thing and what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.endpoint.failures import (
    MAX_DETAIL_LENGTH,
    OptionalParts,
    error_from_object,
    error_from_response,
)
from benchwright.errors import ProviderError

URL = "http://h:8000/v1"


def refused(status: int, body: Any = b"", **headers: str) -> ProviderError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return error_from_response(status, pairs, content, URL, "m-1")


class TestWhatToDo:
    @pytest.mark.parametrize("status", [401, 403])
    def test_about_a_key(self, status: int) -> None:
        assert str(refused(status, {"error": {"message": "bad key"}})) == (
            f"{URL} refused the key (HTTP {status}: bad key). "
            "Give a valid one with --api-key or BENCHWRIGHT_API_KEY."
        )

    def test_about_a_model_or_path(self) -> None:
        assert str(refused(404, {"detail": "Not Found"})) == (
            f"{URL} does not serve the model 'm-1', or has no such path (HTTP 404: Not Found). "
            "Check --model and --base-url."
        )

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (400, "Invalid content type. image_url is only supported by certain models."),
            (400, "m-1 is not a multimodal model"),
            (400, "At most 0 image(s) may be provided in one prompt."),
            (404, "No endpoints found that support image input"),
            (422, "unknown variant `image_url`, expected `text`"),
            (413, "image exceeds 5 MB maximum"),
            (500, "image input is not supported - hint: you may need to provide the mmproj"),
        ],
    )
    def test_about_an_image_that_is_refused_which_it_would_be_each_time(self, status: int, said: str) -> None:
        error = refused(status, {"error": {"message": said}})
        assert str(error) == (
            f"{URL} refused an image (HTTP {status}: {said}). "
            "Ask a model whose server takes images of this kind and size."
        )
        assert (error.retryable, error.systemic) == (False, False)

    def test_a_model_that_is_called_after_images_is_a_model(self) -> None:
        assert "does not serve the model" in str(refused(404, {"error": {"message": "no model gpt-image-1"}}))

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_about_a_redirect(self, status: int) -> None:
        said = str(refused(status, location="https://h/v1/chat/completions"))
        assert said == f"{URL} redirects to https://h/v1/chat/completions; use that address as --base-url."

    def test_about_an_empty_account(self) -> None:
        quota = {"error": {"message": "pay", "code": "insufficient_quota"}}
        for error in (refused(402), refused(429, quota, retry_after="1")):
            assert str(error).startswith(f"{URL} says that the account has no budget left (HTTP 4")
            assert (error.systemic, error.retryable) == (True, False)

    def test_about_anything_else(self) -> None:
        assert str(refused(500, {"error": {"message": "oops"}})) == f"{URL} answered HTTP 500: oops"
        assert str(refused(502)) == f"{URL} answered HTTP 502"


class TestTheDetail:
    @pytest.mark.parametrize(
        ("body", "detail"),
        [
            ({"error": {"message": "oops", "type": "x"}}, "oops"),
            ({"error": "oops"}, "oops"),
            ({"message": "oops"}, "oops"),
            ({"object": "error", "message": "oops", "code": 400}, "oops"),
            ({"detail": "oops"}, "oops"),
            ({"detail": [{"loc": ["body", "n"], "msg": "oops"}]}, "[{'loc': ['body', 'n'], 'msg': 'oops'}]"),
            ({"error": {"reason": "oops"}}, "{'reason': 'oops'}"),
            (["oops"], "['oops']"),
            (b"<html>\n<h1>oops</h1>\n</html>", "<html> <h1>oops</h1> </html>"),
            (b"oops \xff", "oops \ufffd"),
            (b'"\xff"', '"\ufffd"'),
            (b"\x1b[31moops\x07\x00", "oops"),
            ({"error": {"message": "\x1b]0;title\x07oops\u202e"}}, "oops"),
        ],
    )
    def test_is_found_in_every_shape_and_harmless_to_a_terminal(self, body: Any, detail: str) -> None:
        assert str(refused(400, body)) == f"{URL} answered HTTP 400: {detail}"

    @pytest.mark.parametrize("body", [{}, {"error": {}}, {"error": None}, b"", b"   \n"])
    def test_may_be_missing(self, body: Any) -> None:
        assert str(refused(400, body)) == f"{URL} answered HTTP 400 without a reason"

    def test_that_is_missing_names_what_was_sent_beyond_the_minimum(self) -> None:
        error = error_from_response(
            400, [], b"", URL, "m-1", beyond=OptionalParts(["X-Request-Id"], ["model", "seed"])
        )
        assert str(error) == (
            f"{URL} answered HTTP 400 without a reason; sent beyond the minimum: X-Request-Id, seed"
        )

    @pytest.mark.parametrize(
        "said", ["Either x-portkey-config or x-portkey-provider header is required", "Missing header X-App"]
    )
    def test_about_a_header_says_how_to_send_one(self, said: str) -> None:
        error = refused(400, {"error": {"message": said}})
        assert str(error) == f"{URL} answered HTTP 400: {said} (--header NAME=VALUE sends one)"

    @pytest.mark.parametrize(
        "body", [b"x" * 10_000_000, b"[" * 1_000_000, {"error": {"message": "x" * 9_999}}]
    )
    def test_is_cut_short(self, body: Any) -> None:
        said = str(refused(400, body)).removeprefix(f"{URL} answered HTTP 400: ")
        assert (len(said), said[-1]) == (MAX_DETAIL_LENGTH, "…")

    def test_about_a_client_certificate_says_how_to_send_one(self) -> None:
        said = "No required SSL certificate was sent"
        error = refused(400, f"<center>{said}</center>".encode())
        assert str(error).endswith("(--client-cert FILE sends one)")

    @given(st.binary(max_size=50))
    def test_can_be_told_of_whatever_bytes_came(self, body: bytes) -> None:
        assert "\n" not in str(refused(500, body))


class TestErrorObjects:
    @pytest.mark.parametrize(
        ("error", "status", "retryable"),
        [
            ({"message": "m"}, None, True),
            ({"message": "m", "code": 400}, 400, False),
            ({"message": "m", "code": "404"}, 404, False),
            ({"message": "m", "code": 429}, 429, True),
            ({"message": "m", "status": 503}, 503, True),
            *(
                ({"message": "m", "code": code}, None, True)
                for code in ("rate_limit", "²", "9" * 5_000, 7, True)
            ),
            *(({"message": "m", "code": code}, None, True) for code in (None, -400, 1.5, [400])),
        ],
    )
    def test_are_asked_again_unless_their_code_says_otherwise(
        self, error: dict[str, Any], status: int | None, retryable: bool
    ) -> None:
        failure = error_from_object(error, URL)
        assert str(failure) == f"{URL} sent an error in its answer: m"
        assert (failure.http_status, failure.retryable) == (status, retryable)

    def test_without_a_message_are_shown_whole(self) -> None:
        assert "{'type': 'overloaded'}" in str(error_from_object({"type": "overloaded"}, URL))


class TestRetryAfter:
    def test_is_kept_where_asking_again_helps(self) -> None:
        assert refused(429, retry_after="7").retry_after == 7
        assert refused(429).retry_after is None

    def test_is_of_no_use_elsewhere(self) -> None:
        assert refused(401, retry_after="7").retry_after is None
