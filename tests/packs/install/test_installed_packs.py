"""What is found in a storage, also where another program wrote it or it is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.packs.install.install_kit import ENTRY, pack_archive, pack_files, write_tree

from benchwright.errors import UserError
from benchwright.packs.install import find_changes, find_pack, install, list_installed
from benchwright.packs.install.digest import VERSION_CONTROL_FOLDERS, file_digests


def test_nothing_is_installed_at_first(storage: Path) -> None:
    assert list_installed(storage) == []


def test_the_layouts_of_the_desktop_host_are_read(storage: Path) -> None:
    write_tree(storage / "old", pack_files(id="old"))
    write_tree(storage / "new" / "versions" / "1.0.0-0123abcd", pack_files(id="new"))
    current = {"version": "1.0.0-0123abcd", "updatedAt": "2026-01-01T00:00:00.000Z"}
    (storage / "new" / "current.json").write_text(json.dumps(current))
    packs = list_installed(storage)
    assert [(pack.id, pack.inspection.status, find_changes(pack)) for pack in packs] == [
        ("new", "ready", None), ("old", "ready", None),
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["../../outside", "/etc", "", ".", ".."])
def test_a_current_version_elsewhere_is_none(storage: Path, tmp_path: Path, version: str) -> None:
    write_tree(tmp_path / "outside", pack_files())
    (storage / "sample").mkdir(parents=True)
    (storage / "sample" / "current.json").write_text(json.dumps({"version": version}))
    assert list_installed(storage) == []


def test_broken_packs_are_listed_with_what_is_wrong(storage: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        install(str(pack_archive(tmp_path / "pack.tar.gz", id=name)), storage)
    (find_pack("a", storage).directory / ENTRY).unlink()
    (find_pack("b", storage).directory / "benchlocal.pack.json").write_text("{}")
    packs = {pack.id: pack.inspection.status for pack in list_installed(storage)}
    assert packs == {"a": "entry_missing", "b": "invalid_manifest", "c": "ready"}


def test_a_local_pack_whose_directory_is_gone_is_listed_so(storage: Path, tmp_path: Path) -> None:
    source = write_tree(tmp_path / "mine", pack_files())
    install(str(source), storage)
    source.rename(tmp_path / "moved")
    [pack] = list_installed(storage)
    assert (pack.id, pack.inspection.status) == ("sample", "not_installed")


def test_every_kind_of_change_is_found(storage: Path, tmp_path: Path) -> None:
    pack = install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    (pack.directory / ENTRY).chmod(0o755)
    (pack.directory / "README.md").unlink()
    (pack.directory / "more.js").symlink_to("/etc/passwd")
    assert find_changes(pack) == ["README.md is missing", f"{ENTRY} was changed", "more.js was added"]


def test_a_changed_record_is_found(storage: Path, tmp_path: Path) -> None:
    pack = install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    path = pack.directory.with_name(f"{pack.directory.name}.json")
    record = json.loads(path.read_text())
    record["files"]["README.md"] = "0" * 64
    path.write_text(json.dumps(record))
    assert find_changes(find_pack("sample", storage)) == ["the record of the installation was changed"]


def test_a_pack_is_found_by_its_id_or_by_a_path(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write_tree(tmp_path / "mine", pack_files(id="of-mine"))
    assert find_pack("mine", storage).id == "of-mine"
    assert find_pack("./mine", storage).directory == source
    assert find_pack(str(source / "benchlocal.pack.json"), storage).directory == source
    pack = install(str(pack_archive(tmp_path / "pack.tar.gz", id="mine")), storage)
    assert find_pack("mine", storage) == pack, "what is installed goes before a directory of that name"


def test_an_unknown_pack_gets_the_nearest_name(storage: Path, tmp_path: Path) -> None:
    install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    with pytest.raises(UserError, match="Did you mean 'sample'"):
        find_pack("sampel", storage)
    with pytest.raises(UserError, match=r"There is no directory \./nowhere"):
        find_pack("./nowhere", storage)


def test_directories_of_version_control_can_be_left_out_of_a_digest(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.js": "1;", ".git/HEAD": "ref", "lib/.git/HEAD": "ref", "lib/b.js": "2;"})
    assert file_digests(tmp_path, VERSION_CONTROL_FOLDERS).keys() == {"a.js", "lib/b.js"}
    assert len(file_digests(tmp_path)) == 4
