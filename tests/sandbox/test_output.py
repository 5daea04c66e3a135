"""What is kept of long streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchwright.sandbox.output import HeadAndTail


@given(st.lists(st.binary(max_size=30)), st.integers(2, 50))
def test_head_and_tail_are_kept_and_the_rest_is_counted(pieces: list[bytes], most: int) -> None:
    kept, whole = HeadAndTail(most), b"".join(pieces)
    for piece in pieces:
        kept.feed(piece)
    assert kept.total == len(whole)
    if len(whole) <= most:
        assert (kept.content(), kept.missing_bytes) == (whole, 0)
        return
    assert kept.missing_bytes == len(whole) - most
    head, tail = whole[: most - most // 2], whole[len(whole) - most // 2 :]
    assert kept.content() == head + b"\n[... %d bytes left out ...]\n" % kept.missing_bytes + tail
