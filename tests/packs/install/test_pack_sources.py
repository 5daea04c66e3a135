"""What a SOURCE on the command line means, and what a registry says."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.packs.install.install_kit import Server, pack_files, write_tree

from benchwright.errors import UserError
from benchwright.packs.install import read_registry
from benchwright.packs.install.sources import (
    Archive,
    ArchiveFile,
    Directory,
    GitHub,
    PackSource,
    RegistryPack,
    normalize_sha256,
    parse_source,
)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("toolcall-15", RegistryPack("toolcall-15")),
        ("https://host.example/a/pack.tar.gz?x=1", Archive("https://host.example/a/pack.tar.gz?x=1")),
        ("owner/pack@v1.0.0", GitHub("owner/pack", "v1.0.0")),
        ("github:owner/pack@v1.0.0", GitHub("owner/pack", "v1.0.0")),
        ("https://github.com/owner/pack@v1", GitHub("owner/pack", "v1")),
        ("https://github.com/owner/pack.git@v1", GitHub("owner/pack", "v1")),
        ("https://github.com/owner/pack/tree/rel/v1", GitHub("owner/pack", "rel/v1")),
        ("https://github.com/owner/pack/releases/tag/v1", GitHub("owner/pack", "v1")),
    ],
)
def test_texts_that_mean_a_source(text: str, source: PackSource) -> None:
    assert parse_source(text) == source


def test_paths_that_mean_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path / "pack", pack_files())
    (tmp_path / "empty").mkdir()
    (tmp_path / "pack.tar.gz").write_bytes(b"")
    assert parse_source("pack") == parse_source("./pack") == Directory(str(tmp_path / "pack"))
    assert parse_source("pack", copy=True) == Directory(str(tmp_path / "pack"), copied=True)
    assert parse_source("empty") == RegistryPack("empty"), (
        "a directory that is not a pack does not hide a name"
    )
    assert parse_source("./empty") == Directory(str(tmp_path / "empty"))
    assert parse_source("pack.tar.gz") == ArchiveFile(str(tmp_path / "pack.tar.gz"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("owner/pack", "give a tag too: owner/pack@v1.0.0"),
        ("missing.tar.gz", "no file or directory"),
        ("./missing", "no file or directory"),
        ("ftp://host/pack.tar.gz", "no file or directory"),
        ("owner/pack@../../x", "not a tag"),
        ("-owner/..@v1", "not a GitHub repository"),
        ("", "no file or directory"),
    ],
)
def test_texts_that_mean_none_say_what_would(text: str, hint: str) -> None:
    with pytest.raises(UserError, match=hint):
        parse_source(text)


def test_a_sha256_is_taken_in_the_usual_forms() -> None:
    digest = hashlib.sha256(b"x")
    integrity = "sha256-" + base64.b64encode(digest.digest()).decode()
    for text in (digest.hexdigest(), digest.hexdigest().upper(), f"sha256:{digest.hexdigest()}", integrity):
        assert normalize_sha256(text) == digest.hexdigest()
    for text in ("", "abc", "sha256-???", "md5:" + "0" * 32):
        with pytest.raises(ValueError, match="not a SHA-256"):
            normalize_sha256(text)


def described(pack_id: str, source: Any, **more: Any) -> dict[str, Any]:
    return {"id": pack_id, "name": pack_id.title(), "version": "1.0.0", "source": source, **more}


def test_a_registry_lists_what_it_has_sorted_by_name(server: Server) -> None:
    address = server.registry(
        described("zeta", {"type": "github", "repo": "owner/zeta", "tag": "v1"}, author="somebody"),
        described(
            "alpha", {"type": "archive", "url": "https://host.example/alpha.tar.gz", "sha256": "A" * 64}
        ),
    )
    alpha, zeta = read_registry(address).entries
    assert (alpha.id, alpha.source, alpha.sha256) == (
        "alpha", Archive("https://host.example/alpha.tar.gz"), "a" * 64,
    )  # fmt: skip
    assert (zeta.source, zeta.optional_text("author"), zeta.optional_text("license")) == (
        GitHub("owner/zeta", "v1"),
        "somebody",
        None,
    )


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"type": "web", "entry": "https://host.example"}, "it is a web pack"),
        ({"type": "torrent"}, "'torrent' are not supported"),
        ({"type": "github", "repo": "owner/pack"}, "incomplete"),
        ({"type": "github", "repo": "owner/../pack", "tag": "v1"}, "not a GitHub repository"),
        ({"type": "archive", "url": "file:///etc/passwd"}, "incomplete"),
        ({"type": "archive", "url": "https://host.example", "sha256": "abc"}, "not a SHA-256"),
        (None, "not an object"),
    ],
)
def test_an_entry_that_cannot_be_installed_says_why_and_leaves_the_others(
    server: Server, source: Any, problem: str
) -> None:
    fine = described("fine", {"type": "archive", "url": "https://host.example/fine.tar.gz"})
    registry = read_registry(server.registry(described("odd", source), fine))
    by_id = {entry.id: entry for entry in registry.entries}
    assert by_id["fine"].problem is None
    assert problem in str(by_id["odd"].problem)
    with pytest.raises(UserError, match="odd cannot be installed"):
        registry.find("odd")


def test_an_unknown_name_gets_the_nearest_one(server: Server) -> None:
    address = server.registry(
        described("toolcall-15", {"type": "archive", "url": "https://host.example/t.tar.gz"})
    )
    with pytest.raises(UserError, match="Did you mean 'toolcall-15'"):
        read_registry(address).find("toolcal-15")


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"schemaVersion": 2, "packs": []}', "<html>", "[" * 100_000]
)
def test_what_is_no_registry_is_told_so(tmp_path: Path, content: str) -> None:
    path = tmp_path / "registry.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"registry\.json is no"):
        read_registry(str(path))


def test_entries_that_are_no_objects_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"schemaVersion": 1, "packs": [1, None, {}]}))
    assert [entry.problem for entry in read_registry(str(path)).entries] == [
        "its id '' is not a valid pack name"
    ]
