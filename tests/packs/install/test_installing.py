"""Installing, updating and removing: what is there afterwards, and that a failure leaves what was there before."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.packs.install.install_kit import (
    ENTRY,
    Server,
    archive_bytes,
    entry,
    pack_archive,
    pack_files,
    tar_gz,
    write_tree,
)

from benchwright.errors import UserError
from benchwright.packs.install import (
    InstallProgress,
    InstallSettings,
    find_changes,
    find_pack,
    install,
    list_installed,
    uninstall,
    update,
)


def versions(storage: Path) -> list[str]:
    """The version directories of the pack, without their random endings."""
    entries = (storage / "sample" / "versions").iterdir()
    return sorted(entry.name.rsplit("-", 1)[0] for entry in entries if entry.is_dir())


def left_over(storage: Path) -> list[str]:
    """What lies in the storage beside packs and its lock."""
    staged = [path.name for path in (storage / ".staging").glob("*")]
    return staged + [path.name for path in storage.rglob(".*.tmp")]


def test_an_archive_becomes_the_current_version(storage: Path, tmp_path: Path) -> None:
    archive = pack_archive(tmp_path / "pack.tar.gz")
    pack = install(str(archive), storage)
    assert pack.directory.parent == storage / "sample" / "versions"
    assert pack.directory.name.startswith("1.0.0-")
    assert len(pack.directory.name) == len("1.0.0-") + 8
    assert pack.inspection.status == "ready"
    current = json.loads((storage / "sample" / "current.json").read_text())
    assert current["version"] == pack.directory.name
    assert current.keys() == {"version", "updatedAt"}
    assert pack.record is not None
    assert pack.record.archive_sha256 == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert find_changes(pack) == []
    assert left_over(storage) == []


def test_the_phases_are_told_in_order(storage: Path, tmp_path: Path) -> None:
    heard: list[InstallProgress] = []
    install(str(pack_archive(tmp_path / "pack.tar.gz")), storage, report=heard.append)
    phases = ["resolving", "downloading", "extracting", "validating", "activating", "complete"]
    assert [progress.phase for progress in heard] == phases
    assert [progress.pack_id for progress in heard] == [None] * 4 + ["sample"] * 2
    heard.clear()
    uninstall("sample", storage, report=heard.append)
    assert [(progress.action, progress.phase) for progress in heard] == [
        ("uninstall", "removing"), ("uninstall", "complete"),
    ]  # fmt: skip


def test_a_new_version_takes_over_and_only_the_former_one_is_kept(storage: Path, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0", "2.0.0-beta+1"):
        install(str(pack_archive(tmp_path / "pack.tar.gz", version=version)), storage)
    manifest = find_pack("sample", storage).inspection.manifest
    assert manifest is not None
    assert manifest.version == "2.0.0-beta+1"
    assert versions(storage) == ["1.1.0", "2.0.0-beta+1"]


def test_a_version_that_is_no_name_of_a_directory_becomes_one(storage: Path, tmp_path: Path) -> None:
    pack = install(str(pack_archive(tmp_path / "pack.tar.gz", version="../../1 0/ü")), storage)
    assert pack.directory.parent == storage / "sample" / "versions"
    assert pack.inspection.status == "ready"


BAD_PACKS: dict[str, tuple[dict[str, Any], str]] = {
    "no valid manifest": ({"protocolVersion": 2}, "protocolVersion: expected 1, found 2"),
    "an entry that is not there": ({"entry": "./dist/other.js"}, "other.js is missing"),
    "an entry outside the pack": ({"entry": "../../../etc/passwd"}, "must stay inside the pack"),
    "too new a host needed": (
        {"requirements": {"benchlocal": {"minVersion": "9.0.0"}}},
        "needs host version 9.0.0",
    ),
    "an unknown feature needed": ({"requirements": {"hostFeatures": ["teleport"]}}, "teleport"),
    "a web pack": (
        {"type": "web", "entry": "https://host.example"},
        "it is a web pack, a page on which a person works",
    ),
    "an id that is a path": ({"id": "../evil"}, "id: expected letters"),
}


@pytest.mark.parametrize("what", BAD_PACKS)
def test_a_pack_that_cannot_run_is_refused_and_the_old_version_stays(
    storage: Path, tmp_path: Path, what: str
) -> None:
    changes, reason = BAD_PACKS[what]
    before = install(str(pack_archive(tmp_path / "good.tar.gz")), storage)
    with pytest.raises(UserError, match=r"bad\.tar\.gz is not installed: ") as caught:
        install(str(pack_archive(tmp_path / "bad.tar.gz", **changes)), storage)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert find_pack("sample", storage) == before
    assert versions(storage) == ["1.0.0"]
    assert left_over(storage) == []


def test_a_refused_archive_leaves_the_old_version(storage: Path, tmp_path: Path) -> None:
    before = install(str(pack_archive(tmp_path / "good.tar.gz")), storage)
    evil = tar_gz(tmp_path / "evil.tar.gz", entry("../../../../evil", b"x"))
    with pytest.raises(UserError, match=r"evil\.tar\.gz is not installed: .* leads out of the pack\."):
        install(str(evil), storage)
    assert find_pack("sample", storage) == before
    assert left_over(storage) == []


def test_an_archive_without_a_manifest_says_so(storage: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no benchlocal\.pack\.json in it"):
        install(str(tar_gz(tmp_path / "pack.tar.gz", entry("README.md", b"x"))), storage)


def test_a_given_checksum_is_checked(storage: Path, tmp_path: Path) -> None:
    archive = pack_archive(tmp_path / "pack.tar.gz")
    with pytest.raises(UserError, match="not the expected one"):
        install(str(archive), storage, sha256="0" * 64)
    assert list_installed(storage) == []
    install(str(archive), storage, sha256=hashlib.sha256(archive.read_bytes()).hexdigest().upper())
    assert [pack.id for pack in list_installed(storage)] == ["sample"]


def test_a_directory_is_used_in_place_and_left_alone(storage: Path, tmp_path: Path) -> None:
    source = write_tree(tmp_path / "mine", pack_files())
    pack = install(str(source), storage)
    assert (pack.directory, pack.local, find_changes(pack)) == (source, True, None)
    write_tree(source, pack_files(version="1.0.1"))
    manifest = find_pack("sample", storage).inspection.manifest
    assert manifest is not None
    assert manifest.version == "1.0.1"
    uninstall("sample", storage)
    assert (source / ENTRY).is_file()
    assert list_installed(storage) == []


def test_a_directory_can_be_copied(storage: Path, tmp_path: Path) -> None:
    source = write_tree(tmp_path / "mine", pack_files())
    pack = install(str(source), storage, copy=True)
    write_tree(source, pack_files(version="1.0.1"))
    assert pack.directory.is_relative_to(storage)
    assert find_changes(pack) == []
    assert update("sample", storage).changed
    with pytest.raises(UserError, match="a directory has none"):
        install(str(source), storage, sha256="0" * 64)


def settings(server: Server, *packs: dict[str, Any]) -> InstallSettings:
    return InstallSettings(
        registry=server.registry(*packs), github_archive=f"{server.url}/{{repository}}/archive/{{tag}}"
    )


def test_a_github_archive_comes_by_the_address_in_the_settings(server: Server, storage: Path) -> None:
    server.answers["/owner/pack/archive/v1.0.0"] = archive_bytes()
    pack = install("owner/pack@v1.0.0", storage, settings(server))
    assert pack.record is not None
    assert pack.record.origin == f"{server.url}/owner/pack/archive/v1.0.0"


def listed(server: Server, version: str, **source: Any) -> dict[str, Any]:
    """A registry's entry for the sample pack, whose archive the server then has."""
    path = f"/sample-{version}.tar.gz"
    server.answers[path] = archive_bytes(version=version)
    archive = {"type": "archive", "url": server.url + path, **source}
    return {"id": "sample", "name": "Sample", "version": version, "source": archive}


def test_a_name_is_looked_up_in_the_registry_and_updated_from_it(server: Server, storage: Path) -> None:
    install("sample", storage, settings(server, listed(server, "1.0.0")))
    asked = len(server.requests)
    assert not update("sample", storage, settings(server, listed(server, "1.0.0"))).changed
    assert [path for path, _ in server.requests[asked:]] == ["/registry.json"], "nothing else is downloaded"
    newer = update("sample", storage, settings(server, listed(server, "1.1.0")))
    assert newer.changed
    assert newer.pack.inspection.manifest is not None
    assert newer.pack.inspection.manifest.version == "1.1.0"


def test_an_update_repairs_what_was_changed_here(server: Server, storage: Path) -> None:
    pack = install("sample", storage, settings(server, listed(server, "1.0.0")))
    (pack.directory / ENTRY).write_text("changed")
    assert find_changes(pack) == [f"{ENTRY} was changed"]
    repaired = update("sample", storage, settings(server, listed(server, "1.0.0")))
    assert repaired.changed
    assert find_changes(repaired.pack) == []


def test_an_address_that_still_has_the_same_changes_nothing(server: Server, storage: Path) -> None:
    server.answers["/pack.tar.gz"] = archive_bytes()
    install(f"{server.url}/pack.tar.gz", storage)
    assert not update("sample", storage).changed
    server.answers["/pack.tar.gz"] = archive_bytes(version="1.0.1")
    assert update("sample", storage).changed
    del server.answers["/pack.tar.gz"]
    with pytest.raises(UserError, match="answered 404"):
        update("sample", storage)
    assert find_pack("sample", storage).inspection.status == "ready"


def test_a_checksum_in_the_registry_is_checked(server: Server, storage: Path) -> None:
    with pytest.raises(UserError, match="not the expected one"):
        install("sample", storage, settings(server, listed(server, "1.0.0", sha256="1" * 64)))
    entry = listed(server, "1.0.0")
    right = hashlib.sha256(server.answers["/sample-1.0.0.tar.gz"]).hexdigest()  # type: ignore[arg-type]
    entry["source"]["sha256"] = right
    assert install("sample", storage, settings(server, entry)).record is not None


def test_a_registry_that_gives_another_pack_than_asked_for_is_refused(server: Server, storage: Path) -> None:
    entry = {**listed(server, "1.0.0"), "id": "other"}
    with pytest.raises(UserError, match="it is sample, not other"):
        install("other", storage, settings(server, entry))
    assert list_installed(storage) == []


def test_a_storage_on_another_file_system_is_filled_too(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack's directory may be mounted, or a link elsewhere: then a rename across is refused (EXDEV)."""
    real = os.rename

    def rename(source: Any, target: Any) -> None:
        staged = ".staging" in str(source), ".staging" in str(target)
        if staged in ((True, False), (False, True)):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    pack = install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    assert find_changes(pack) == []
    uninstall("sample", storage)
    assert not (storage / "sample").exists()


def test_a_full_disk_leaves_the_old_version(
    storage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)

    def replace(source: Any, target: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    newer = pack_archive(tmp_path / "pack.tar.gz", version="2.0.0")
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(UserError, match="No space left on device"):
        install(str(newer), storage)
    assert find_pack("sample", storage) == before
    assert left_over(storage) == []


def test_installations_at_the_same_time_all_succeed(storage: Path, tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def one(number: int) -> None:
        try:
            install(str(archives[number]), storage)
        except BaseException as error:
            errors.append(error)

    archives = [
        pack_archive(tmp_path / f"{number}.tar.gz", id=f"pack-{number % 3}", version=f"1.0.{number}")
        for number in range(9)
    ]
    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(archives))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    packs = list_installed(storage)
    assert [(pack.id, pack.inspection.status) for pack in packs] == [(f"pack-{n}", "ready") for n in range(3)]
    assert all(find_changes(pack) == [] for pack in packs)
    assert left_over(storage) == []


def test_only_what_lies_in_the_storage_can_be_removed(storage: Path, tmp_path: Path) -> None:
    install(str(pack_archive(tmp_path / "pack.tar.gz")), storage)
    outside = write_tree(tmp_path / "outside", pack_files())
    for name in ("../outside", str(outside), ".", "..", ".staging", ""):
        with pytest.raises(UserError, match="There is no pack"):
            uninstall(name, storage)
    (storage / "linked").symlink_to(outside)
    uninstall("linked", storage)
    assert not (storage / "linked").is_symlink()
    assert (outside / ENTRY).is_file()
    uninstall("sample", storage)
    assert list_installed(storage) == []
    assert (outside / ENTRY).is_file()
