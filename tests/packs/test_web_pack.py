"""Manifests of web packs, and what their pages save: what is taken and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.errors import UserError
from benchwright.packs import web_history
from benchwright.packs.manifest_types import PackManifest
from benchwright.packs.types import RegisteredModel
from benchwright.packs.web_history import WebSession, load_session, safe_artifact_path
from benchwright.packs.web_pack import WebPack, is_allowed_page, origin_of, web_pack_of

WEB = {"bridgeVersion": 1, "allowedOrigins": [], "permissions": ["models:list"]}
MODEL = RegisteredModel("p:m", "p", "m", "m", True, "primary")


def declared(entry: str = "https://packs.example/1.0.0/index.html", **web: Any) -> WebPack:
    return web_pack_of(PackManifest("forms", "Forms", "1", entry, type="web", raw={"web": {**WEB, **web}}))


def test_a_page_speaks_for_its_own_origin_and_those_that_it_names() -> None:
    pack = declared(allowedOrigins=["https://cdn.example:8443/x", "https://packs.example:443"])
    assert pack.origins == ("https://packs.example", "https://cdn.example:8443")


@pytest.mark.parametrize(
    ("web", "why"),
    [
        ({"bridgeVersion": 2}, "web.bridgeVersion is 2, and this host speaks version 1"),
        ({"allowedOrigins": "x"}, "web.allowedOrigins is not a list of strings"),
        ({"allowedOrigins": ["http://elsewhere.example"]}, "neither https nor of this machine"),
        ({"permissions": [1]}, "web.permissions is not a list of strings"),
        ({"entry": "http://elsewhere.example/"}, "is neither an https address nor one of this machine"),
    ],
)
def test_a_manifest_that_cannot_be_shown_says_why(web: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        declared(**web)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/x", True),
        ("http://127.0.0.1:5177/", True),
        ("http://localhost", True),
        ("http://[::1]:80/", True),
        ("http://a.example/", False),
        ("https://user:word@a.example/", False),
        ("https://a.example; script-src *", False),
        ("https://a.example:x/", False),
        ("https://ä.example/", False),
        ("javascript:alert(1)", False),
        ("//a.example", False),
    ],
)
def test_pages_are_at_https_or_on_this_machine(address: str, expected: bool) -> None:
    assert is_allowed_page(address) is expected


@pytest.mark.parametrize(
    ("address", "origin"),
    [("HTTPS://A.example:443/x?y", "https://a.example"), ("http://[::1]:5/", "http://[::1]:5")],
)
def test_origins_are_written_as_browsers_do(address: str, origin: str) -> None:
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a/b.json", "a/b.json"),
        ("..\\..\\x", "x"),
        ("artifacts/a", "a"),
        ("a b\x00", "a-b"),
        ("/", "some-label.txt"),
    ],
)
def test_paths_lead_nowhere_else(path: str, safe: str) -> None:
    assert safe_artifact_path(path, "Some Label") == safe


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"status": "won"}, "The status of a session is one of"),
        ({"events": {}}, "events is a list"),
        ({"metadata": []}, "metadata is an object"),
        ({"events": [{}] * 11}, "keeps 10 events"),
    ],
)
def test_what_is_no_history_is_refused_and_nothing_is_saved(
    payload: dict[str, Any], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_history, "MAX_EVENTS", 10)
    session = WebSession(declared(), [MODEL], tmp_path)
    with pytest.raises(UserError, match=why):
        session.save(payload)
    assert list(tmp_path.iterdir()) == []


def test_files_have_a_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_history, "MAX_SESSION_BYTES", 10)
    session = WebSession(declared(), [MODEL], tmp_path)
    session.add_artifact("text", "a", "a", None, b"123456")
    with pytest.raises(UserError, match="A session keeps"):
        session.add_artifact("text", "b", "b", None, b"123456")


def test_a_session_is_found_by_a_part_of_its_id_that_no_other_has(tmp_path: Path) -> None:
    first, second = (WebSession(declared(), [MODEL], tmp_path) for _ in range(2))
    run = first.save({"status": "completed"})["runId"]
    second.save({"status": "completed"})
    assert load_session(tmp_path, "forms", run[-8:])["runId"] == run
    for reference in ("forms-2", "nowhere"):
        with pytest.raises(UserError, match="There is no session"):
            load_session(tmp_path, "forms", reference)
