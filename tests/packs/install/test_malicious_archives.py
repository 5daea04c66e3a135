"""Archives made to do harm, or broken: each is refused with the reason, and writes nothing outside its directory."""

from __future__ import annotations

import gzip
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.install.install_kit import entry, pack_entries, tar_gz

from benchwright.packs.install.settings import ArchiveError, InstallLimits
from benchwright.packs.install.unpack import copy_directory, extract_archive

SMALL = InstallLimits(
    total_bytes=2_000_000,
    file_bytes=1_000_000,
    max_entries=50,
    max_compression_ratio=100,
    ratio_limit_min_bytes=200_000,
    max_path_depth=8,
    max_path_bytes=200,
)


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> bytes:
    return entry(name, kind=kind, linkname=target)


def pax(fields: dict[str, str]) -> bytes:
    records = b""
    for key, value in fields.items():
        body = f" {key}={value}\n".encode()
        length = len(body) + 1
        while len(str(length)) + len(body) != length:
            length = len(str(length)) + len(body)
        records += str(length).encode() + body
    return entry("pax", records, tarfile.XHDTYPE)


REFUSED = {
    "a name that leads out": ([entry("../evil", b"x")], "leads out"),
    "a name that leads out from within": ([entry("a/b/../../../evil", b"x")], "leads out"),
    "an absolute name": ([entry("/tmp/evil", b"x")], "absolute"),
    "an absolute name in an extended header": ([pax({"path": "/evil"}), entry("fine", b"x")], "absolute"),
    "a name that leads out in an extended header": ([pax({"path": "../evil"}), entry("fine", b"x")], "leads out"),
    "a long name that leads out": ([entry("././@LongLink", b"../evil\0", b"L"), entry("fine", b"x")], "leads out"),
    "a name with backslashes": ([entry("..\\evil", b"x")], "backslash"),
    "a name with a control character": ([entry("a\x1b[2Jb", b"x")], "control character"),
    "a name that is not text": ([entry("a\udcffb", b"x")], "not valid UTF-8"),
    "a name that means the top": ([entry("./", b"x")], "not a valid file name"),
    "a symbolic link out": ([link("out", "../..")], "leads out"),
    "an absolute symbolic link": ([link("out", "/etc/passwd")], "leads out"),
    "a symbolic link out through another": (
        [entry("d/e/f", b"x"), link("up", "d/e"), link("out", "up/../../../x")],
        "leads out",
    ),
    "a long link that leads out": (
        [entry("././@LongLink", b"/etc/passwd\0", b"K"), link("out", "inside")],
        "leads out",
    ),
    "a file below a link": ([link("d", "."), entry("d/f", b"x")], "both a directory and a file"),
    "a link over a directory": ([entry("d/f", b"x"), link("d", ".")], "both a directory and a file"),
    "a file through a link to itself": ([link("f", "g"), entry("f", b"x")], "twice"),
    "a hard link out": ([link("out", "../x", tarfile.LNKTYPE)], "not a file of the pack"),
    "an absolute hard link": ([link("out", "/etc/passwd", tarfile.LNKTYPE)], "not a file of the pack"),
    "a hard link to a link": ([link("l", "x"), link("out", "l", tarfile.LNKTYPE)], "not a file of the pack"),
    "a hard link with content": ([entry("h", b"x", tarfile.LNKTYPE, linkname="f")], "with content"),
    "a character device": ([entry("null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3)], "a device"),
    "a block device": ([entry("disk", kind=tarfile.BLKTYPE)], "a device"),
    "a pipe": ([entry("pipe", kind=tarfile.FIFOTYPE)], "a pipe"),
    "an unknown kind of entry": ([entry("odd", kind=b"Z")], "not a file, directory or link"),
    "a sparse file": ([pax({"GNU.sparse.size": "9"}), entry("holes", b"x")], "not a file, directory or link"),
    "two files of one name": ([entry("f", b"1"), entry("./f", b"2")], "twice"),
    "a file over a directory": ([entry("d/f", b"1"), entry("d", b"2")], "both a directory and a file"),
    "names that differ in case": ([entry("Dist/a", b"1"), entry("dist/b", b"2")], "differ only in case"),
    "names that differ in Unicode form": ([entry("é", b"1"), entry("e\u0301", b"2")], "differ only in case or Unicode"),
    "too many entries": ([entry(f"f{number}") for number in range(51)], "more than 50"),
    "a file that is too large": ([entry("big", os.urandom(1_000_001))], "larger than 1,000,000"),
    "files that are too large together": (
        [entry(f"f{number}", os.urandom(700_000)) for number in range(3)],
        "more than 2,000,000",
    ),
    "a bomb": ([entry("zeros", bytes(900_000))], "100 times its size"),
    "a bomb behind the end": ([entry("f", b"x"), bytes(1_900_000)], "100 times its size"),
    "a path too deep": ([entry("/".join("abcdefghi"), b"x")], "directories deep"),
    "a name too long": ([pax({"path": "n" * 201}), entry("f", b"x")], "too long"),
    "a huge extended header": ([pax({"comment": "c" * 100_000}), entry("f", b"x")], "a header of more than"),
    "a broken extended header": ([entry("pax", b"999 path=x\n", tarfile.XHDTYPE), entry("f")], "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_an_archive_that_breaks_a_rule_is_refused_with_the_reason(tmp_path: Path, what: str) -> None:
    entries, reason = REFUSED[what]
    room = tmp_path / "room"
    room.mkdir()
    archive = tar_gz(tmp_path / "pack.tar.gz", *entries)
    with pytest.raises(ArchiveError, match=reason):
        extract_archive(archive, room / "tree", SMALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pack.tar.gz", "room"]
    assert [path.name for path in room.iterdir()] == ["tree"]


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no archive": (lambda whole: b"PK\x03\x04" + whole, "not a .tar.gz"),
    "an empty file": (lambda whole: b"", "not a .tar.gz"),
    "a cut off file": (cut, "not a complete .tar.gz"),
    "a changed byte": (lambda whole: whole[:500] + bytes([whole[500] ^ 64]) + whole[501:], "archive"),
    "a missing checksum": (lambda whole: whole[:-8], "not a complete .tar.gz"),
    "a cut off tar file": (lambda whole: gzip.compress(cut(gzip.decompress(whole))), "ends"),
    "a tar file without an end": (lambda whole: gzip.compress(gzip.decompress(whole)[:-1024]), "too early"),
    "a broken header in the middle": (
        lambda whole: gzip.compress(gzip.decompress(whole)[:1024] + b"?" * 512 + gzip.decompress(whole)[1024:]),
        "not a valid tar file",
    ),
    "no tar file": (lambda whole: gzip.compress(b"hello " * 400), "not a valid tar file"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_archive_is_never_taken_for_a_smaller_one(tmp_path: Path, how: str) -> None:
    change, reason = BROKEN[how]
    archive = tar_gz(tmp_path / "pack.tar.gz", entry("f", os.urandom(600)), *pack_entries())
    archive.write_bytes(change(archive.read_bytes()))
    with pytest.raises(ArchiveError, match=reason):
        extract_archive(archive, tmp_path / "tree", InstallLimits())


def test_a_size_in_a_header_is_not_believed(tmp_path: Path) -> None:
    """A header that announces 8 GiB costs nothing: the content is counted as it comes."""
    blocks = entry("f", b"", size=8 * 2**30)
    with pytest.raises(ArchiveError, match="ends in the middle of a file"):
        extract_archive(tar_gz(tmp_path / "pack.tar.gz", blocks, bytes(2000)), tmp_path / "tree", SMALL)


def test_special_bits_and_owners_do_not_arrive_and_the_executable_bit_does(tmp_path: Path) -> None:
    archive = tar_gz(
        tmp_path / "pack.tar.gz", entry("tool", b"#!", mode=0o6777, uid=0), entry("data", b"x", mode=0o666)
    )
    tree = extract_archive(archive, tmp_path / "tree", SMALL)
    umask = os.umask(0)
    os.umask(umask)
    assert (tree / "tool").stat().st_mode & 0o7777 == 0o755 & ~umask
    assert (tree / "data").stat().st_mode & 0o7777 == 0o644 & ~umask


def test_links_that_stay_inside_arrive(tmp_path: Path) -> None:
    archive = tar_gz(
        tmp_path / "pack.tar.gz",
        link("bin/tool", "../lib/tool.js"),
        link("copy.js", "lib/tool.js", tarfile.LNKTYPE),
        entry("lib/tool.js", b"1;"),
    )
    tree = extract_archive(archive, tmp_path / "tree", SMALL)
    assert (tree / "bin/tool").is_symlink()
    assert (tree / "bin/tool").read_bytes() == b"1;"
    assert (tree / "copy.js").read_bytes() == b"1;"
    assert not (tree / "copy.js").is_symlink()
    assert (tree / "lib/tool.js").stat().st_nlink == 1, "a hard link becomes a copy"


@pytest.mark.parametrize(
    ("top", "root"),
    [("sample-1.0.0/", "sample-1.0.0"), ("", "."), ("./", ".")],
    ids=["one directory", "no directory", "a dot"],
)
def test_the_pack_is_the_one_directory_at_the_top_or_all_of_it(tmp_path: Path, top: str, root: str) -> None:
    tree = extract_archive(tar_gz(tmp_path / "pack.tar.gz", *pack_entries(top)), tmp_path / "tree", SMALL)
    assert tree == tmp_path / "tree" / root
    assert (tree / "benchlocal.pack.json").is_file()


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_what_tar_programs_write_is_read(tmp_path: Path, format: int) -> None:
    """Long names and links, other scripts, and empty directories, in all formats in use."""
    source = tmp_path / "source"
    long = source / ("d" * 90) / ("e" * 60)
    long.mkdir(parents=True)
    (long / "file.txt").write_text("content")
    (long / "link").symlink_to("file.txt")
    (source / "größe.txt").write_text("1")
    (source / "empty").mkdir()
    with tarfile.open(tmp_path / "pack.tar.gz", "w:gz", format=format, encoding="utf-8") as archive:
        archive.add(source, "pack")
    tree = extract_archive(tmp_path / "pack.tar.gz", tmp_path / "tree", InstallLimits())
    found = {path.relative_to(tree) for path in tree.rglob("*")}
    assert found == {path.relative_to(source) for path in source.rglob("*")}
    assert (tree / ("d" * 90) / ("e" * 60) / "link").read_text() == "content"


names = st.text(alphabet=st.sampled_from("ab./\\ .é\x00\x1b"), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(names=st.lists(names, max_size=5), target=names)
def test_whatever_the_names_are_nothing_lies_outside(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], target: str
) -> None:
    room = tmp_path_factory.mktemp("room")
    entries = [entry(name, b"x") for name in names] + [link("l", target)]
    try:
        extract_archive(tar_gz(room / "pack.tar.gz", *entries), room / "tree", SMALL)
        accepted = True
    except ArchiveError:
        accepted = False
    assert sorted(path.name for path in room.iterdir()) == ["pack.tar.gz", "tree"]
    root = (room / "tree").resolve()
    assert not accepted or all(path.resolve().is_relative_to(root) for path in root.rglob("*"))


def test_a_directory_is_copied_by_the_same_rules(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / ".git").mkdir(parents=True)
    (source / "lib").mkdir()
    (source / "lib/a.js").write_text("1;")
    (source / "a").symlink_to("lib/a.js")
    tree = copy_directory(source, tmp_path / "copy", SMALL)
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*")) == ["a", "lib", "lib/a.js"]
    os.mkfifo(source / "pipe")
    with pytest.raises(ArchiveError, match="not a file, directory or link"):
        copy_directory(source, tmp_path / "second", SMALL)
    (source / "pipe").unlink()
    (source / "out").symlink_to(tmp_path)
    with pytest.raises(ArchiveError, match="leads out"):
        copy_directory(source, tmp_path / "third", SMALL)
