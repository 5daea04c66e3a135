"""Downloads: bounded in bytes, seconds and redirects, whole or an error, and never with credentials."""

from __future__ import annotations

import hashlib
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.packs.install.install_kit import Server

from benchwright.packs.install.download import DownloadError, download
from benchwright.packs.install.settings import InstallLimits

HASTY = InstallLimits(connect_seconds=2.0, silence_seconds=0.4, download_seconds=1.5, max_redirects=3)


def test_what_lies_there_is_written_and_its_digest_told(server: Server, tmp_path: Path) -> None:
    server.answers["/a%20b.tar.gz?x=1"] = b"content"
    digest = download(f"{server.url}/a b.tar.gz?x=1", tmp_path / "file", 100, HASTY)
    assert (tmp_path / "file").read_bytes() == b"content"
    assert digest == hashlib.sha256(b"content").hexdigest()


def test_no_credentials_and_no_cookies_go_along(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    server.answers["/file"] = b"content"
    download(server.redirect("/start", "/file"), tmp_path / "file", 100, HASTY)
    assert [path for path, _ in server.requests] == ["/start", "/file"]
    for _, headers in server.requests:
        assert headers.keys() == {"host", "user-agent", "accept", "accept-encoding", "connection"}


def test_more_bytes_than_announced_as_allowed_are_refused_before_they_come(
    server: Server, tmp_path: Path
) -> None:
    server.answers["/file"] = bytes(1001)
    with pytest.raises(DownloadError, match="larger than 1,000 bytes"):
        download(f"{server.url}/file", tmp_path / "file", 1000, HASTY)
    assert (tmp_path / "file").stat().st_size == 0


def test_an_endless_answer_is_cut_off(server: Server, tmp_path: Path) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(bytes(65536))

    server.answers["/file"] = endless
    with pytest.raises(DownloadError, match="larger than 1,000,000 bytes"):
        download(f"{server.url}/file", tmp_path / "file", 1_000_000, HASTY)
    assert (tmp_path / "file").stat().st_size <= 1_000_000


def test_an_answer_that_breaks_off_is_an_error(server: Server, tmp_path: Path) -> None:
    def truncated(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(bytes(500))

    server.answers["/file"] = truncated
    with pytest.raises(DownloadError, match="in the middle of the answer"):
        download(f"{server.url}/file", tmp_path / "file", 10_000, HASTY)


@pytest.mark.parametrize(("pause", "limit"), [(5.0, 1.2), (0.1, 2.5)], ids=["silent", "dripping"])
def test_a_server_that_takes_too_long_is_left(
    server: Server, tmp_path: Path, pause: float, limit: float
) -> None:
    def slow(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b"x")
            time.sleep(pause)

    server.answers["/file"] = slow
    started = time.monotonic()
    with pytest.raises(DownloadError):
        download(f"{server.url}/file", tmp_path / "file", 10_000, HASTY)
    assert time.monotonic() - started < limit


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: Server, tmp_path: Path, status: int) -> None:
    server.answers["/there/file"] = b"content"
    server.redirect("/middle", "there/file", status)
    download(server.redirect("/start", f"{server.url}/middle", status), tmp_path / "file", 100, HASTY)
    assert (tmp_path / "file").read_bytes() == b"content"


def test_redirects_in_a_circle_end(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="more than 3 times"):
        download(server.redirect("/start", "/start"), tmp_path / "file", 100, HASTY)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "not an http:// or https://"),
        ("ftp://127.0.0.1/file", "not an http:// or https://"),
        ("http://me:secret@127.0.0.1/file", "user name or password"),
        ("http://[bad/file", "an invalid address"),
    ],
)
def test_redirects_elsewhere_are_not_followed(
    server: Server, tmp_path: Path, location: str, reason: str
) -> None:
    with pytest.raises(DownloadError, match=reason) as caught:
        download(server.redirect("/start", location), tmp_path / "file", 100, HASTY)
    assert "secret" not in str(caught.value)
    assert len(server.requests) == 1


def test_a_server_elsewhere_cannot_lead_to_this_machine(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.answers["/file"] = b"content"
    server.redirect("/there", "http://other.example/file")
    download("http://host.example/there", tmp_path / "file", 100, HASTY)
    assert (tmp_path / "file").read_bytes() == b"content"
    server.redirect("/here", f"{server.url}/file")
    with pytest.raises(DownloadError, match="redirects to this machine"):
        download("http://host.example/here", tmp_path / "file", 100, HASTY)


def test_a_refusal_names_address_and_status_but_not_the_query(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"/missing answered 404\.") as caught:
        download(f"{server.url}/missing?token=secret", tmp_path / "file", 100, HASTY)
    assert "secret" not in str(caught.value)


def test_nobody_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        download("http://127.0.0.1:1/file", tmp_path / "file", 100, HASTY)
