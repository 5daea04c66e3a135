"""A file's identity is its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
import xxhash

from benchwright.data.manifest import CHUNK_BYTES, file_fingerprint


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1])
def test_it_is_the_digest_of_the_whole_file(size: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(bytes(number % 251 for number in range(size)))
    assert file_fingerprint(path) == xxhash.xxh3_128(path.read_bytes()).hexdigest()


def test_a_moved_file_keeps_it_and_a_changed_byte_changes_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"some rows")
    before = file_fingerprint(path)
    moved = path.rename(tmp_path / "moved.jsonl")
    assert file_fingerprint(moved) == before
    moved.write_bytes(b"same rows")
    assert file_fingerprint(moved) != before


def test_a_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        file_fingerprint(tmp_path / "nowhere")
