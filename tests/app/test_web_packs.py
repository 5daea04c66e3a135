"""Where `pack open` finds a web pack: a folder, an address, the registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.pack_kit import served, write_pack

from benchwright.app.web_packs import chat_completion_body, find_web_pack
from benchwright.errors import UserError

ENTRY = "https://packs.example/forms/1.0.0/index.html"
MANIFEST = {
    "schemaVersion": 1,
    "protocolVersion": 1,
    "type": "web",
    "id": "forms",
    "name": "Forms",
    "version": "1.0.0",
    "entry": ENTRY,
    "web": {"bridgeVersion": 1, "allowedOrigins": [], "permissions": ["models:list"]},
    "capabilities": {"verification": False},
}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[str]:
    """The address of a folder with the manifest in it."""
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "benchlocal.pack.json").write_text(json.dumps(MANIFEST))
    with served(folder) as address:
        yield address


def registry(tmp_path: Path, **entry: Any) -> str:
    facts = {"id": "forms", "name": "Forms", "version": "1.0.0", **entry}
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"schemaVersion": 1, "packs": [facts]}))
    return str(path)


def test_a_folder_and_an_address_hold_its_manifest(tmp_path: Path, pages: str) -> None:
    for reference in (str(tmp_path / "pages"), f"{pages}/benchlocal.pack.json"):
        assert find_web_pack(reference, None, None).permissions == ("models:list",)


def test_the_registry_names_its_manifest(tmp_path: Path, pages: str) -> None:
    source = {"type": "web", "entry": ENTRY, "manifest": f"{pages}/benchlocal.pack.json"}
    found = find_web_pack("forms", registry(tmp_path, source=source), None)
    assert (found.entry, found.permissions) == (ENTRY, ("models:list",))


def test_an_entry_without_a_manifest_stands_for_one(tmp_path: Path) -> None:
    source = {"type": "web", "entry": ENTRY, "buildId": "b7"}
    found = find_web_pack("forms", registry(tmp_path, source=source), None)
    assert (found.origins, found.build_id, len(found.permissions)) == (("https://packs.example",), "b7", 8)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (
            {"version": "2.0.0", "source": {"type": "web", "entry": ENTRY, "manifest": "PAGES"}},
            "the registry says forms 2",
        ),
        (
            {"source": {"type": "web", "entry": "http://packs.example/"}},
            "neither an https address nor one of this",
        ),
        (
            {"source": {"type": "archive", "url": "https://x.example/a.tar.gz"}},
            "is not a web pack: install it with",
        ),
        (
            {"id": "other", "source": {"type": "web", "entry": ENTRY}},
            "neither a folder nor a pack that is installed",
        ),
    ],
)
def test_what_cannot_be_shown_says_why(entry: dict[str, Any], why: str, tmp_path: Path, pages: str) -> None:
    text = json.dumps(entry).replace("PAGES", f"{pages}/benchlocal.pack.json")
    with pytest.raises(UserError, match=why):
        find_web_pack("forms", registry(tmp_path, **json.loads(text)), None)


def test_one_for_a_later_host_is_refused(tmp_path: Path, pages: str) -> None:
    later = {**MANIFEST, "requirements": {"benchlocal": {"minVersion": "9.0.0"}}}
    (tmp_path / "pages/benchlocal.pack.json").write_text(json.dumps(later))
    with pytest.raises(UserError, match=r"forms cannot be shown: .*9\.0\.0"):
        find_web_pack(str(tmp_path / "pages"), None, None)


def test_a_pack_of_the_usual_kind_is_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="box is not a web pack: run it with: benchwright pack run box"):
        find_web_pack(str(write_pack(tmp_path / "box")), None, None)


def test_what_a_page_asks_is_a_chat_completion() -> None:
    asked = {
        "modelId": "p:m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function"}],
        "toolChoice": "auto",
        "generation": {
            "temperature": 0.2,
            "request_timeout_seconds": 9,
            "odd": 1,
            "extra_body": {"a": 1, "model": "x"},
        },
        "metadata": {"kept": "here"},
    }
    assert msgspec.json.decode(chat_completion_body(asked, stream=True)) == {
        "model": "p:m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "tools": [{"type": "function"}],
        "tool_choice": "auto",
        "temperature": 0.2,
        "a": 1,
    }
