"""Who may come in: nobody but the browser that opened the printed address, from the viewer's own pages."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.web.web_kit import Viewing, mixed_run, viewing, write

RUN = "20260101T000000-mixed-00000000"

PATHS = (
    "/",
    "/live",
    f"/runs/{RUN}",
    f"/runs/{RUN}/live",
    f"/runs/{RUN}/sample?id=0",
    f"/runs/{RUN}/sample/file?id=0&part=body&attempt=0&exchange=0",
    "/compare",
    "/start",
    "/nowhere",
)


@pytest.fixture(scope="module")
def viewer(shared_program: Program) -> Iterator[Viewing]:
    mixed_run(shared_program)
    with viewing(shared_program) as viewer:
        yield viewer


def test_the_address_is_on_loopback_and_carries_a_token(viewer: Viewing) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", viewer.address)


def test_the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(viewer: Viewing) -> None:
    reply = viewer.ask(f"/?token={viewer.token}")
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert viewer.token not in cookie
    assert viewer.get("/").status == 200


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_no_page_says_anything(viewer: Viewing, path: str) -> None:
    reply = viewer.ask(path)
    assert reply.status == 403
    assert "mixed" not in reply.text


@pytest.mark.parametrize("token", ["", "wrong", "é", "x" * 32])
def test_a_wrong_token_lets_nobody_in(viewer: Viewing, token: str) -> None:
    from urllib.parse import quote

    reply = viewer.ask(f"/?token={quote(token)}")
    assert reply.status == 403
    assert "Set-Cookie" not in reply.headers


def test_a_wrong_cookie_lets_nobody_in(viewer: Viewing) -> None:
    name = viewer.cookie.partition("=")[0]
    assert viewer.ask("/", Cookie=f"{name}=wrong").status == 403


def test_the_cookie_of_one_viewer_does_not_open_another(viewer: Viewing, program: Program) -> None:
    with viewing(program) as other:
        assert other.ask("/", Cookie=viewer.cookie).status == 403
        assert other.ask(f"/?token={viewer.token}").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "a b"]
)
def test_a_name_that_was_bound_to_this_machine_is_refused(viewer: Viewing, host: str) -> None:
    reply = viewer.get("/", Host=host)
    assert reply.status in (400, 403)
    assert "mixed" not in reply.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_the_machine_may_be_called_by_its_own_names(viewer: Viewing, host: str) -> None:
    """Through a forwarded port the port differs too; the cookie is then asked for anew."""
    assert viewer.ask(f"/?token={viewer.token}", Host=f"{host}:9000").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_what_another_page_asks_is_refused(viewer: Viewing, origin: str) -> None:
    assert viewer.get("/", Origin=origin).status == 403
    assert viewer.post(f"/runs/{RUN}/stop", Origin=origin).status == 403


def test_a_form_that_does_not_say_where_it_comes_from_is_refused(viewer: Viewing) -> None:
    assert viewer.post(f"/runs/{RUN}/stop", Origin=None).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_cannot_embed_what_is_served(viewer: Viewing, site: str) -> None:
    assert viewer.get("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403


@pytest.mark.parametrize("path", [*PATHS[:1], *PATHS[2:3], "/nowhere", "/static/view.js", "/static/nothing"])
def test_every_answer_forbids_foreign_and_inline_code(viewer: Viewing, path: str) -> None:
    headers = viewer.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_no_template_has_code_or_style_within_it() -> None:
    import benchwright.web

    templates = Path(benchwright.web.__file__).parent / "templates"
    for path in templates.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=[\"']", text), path.name
        assert "|safe" not in text, path.name


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e%2f%2e%2e%2fsecrets.py",
        "/static//etc/passwd",
        "/runs/..",
        "/runs/..%2f..%2fetc",
        "/runs/%2fetc",
        "/runs/.%2e/sample?id=0",
        "/runs/elsewhere",
        "/compare?part=result&a=..%2felsewhere&b=%2fetc%2fpasswd",
    ],
)
def test_nothing_else_of_the_disk_is_served(viewer: Viewing, path: str) -> None:
    write(viewer.program, "../elsewhere", [])
    reply = viewer.get(path)
    assert reply.status == 404
    assert "root:" not in reply.text


def test_a_directory_whose_name_is_not_its_id_is_no_run(viewer: Viewing) -> None:
    runs = viewer.program.home / "runs"
    os.symlink(runs / RUN, runs / "linked")
    assert viewer.get("/runs/linked").status == 404
    assert "linked" not in viewer.get("/").text


def test_downloads_have_names_without_meaning_to_a_disk(viewer: Viewing) -> None:
    name = '../../a"b\r\nSet-Cookie: x=1\u202efdp.exe'
    write(viewer.program, "20260102T000000-named-00000000", [_made(name)])
    path = viewer.sample("20260102T000000-named-00000000", name).replace("/sample?", "/sample/file?")
    headers = viewer.get(f"{path}&part=body&attempt=0&exchange=0").headers
    told = headers["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9-]+\.json"', told.replace("_", "-"))
    assert headers["Content-Type"] == "application/json"
    assert headers.get("Set-Cookie") is None


def _made(sample: str):  # type: ignore[no-untyped-def]
    from tests.app.compare_kit import Made

    return Made(sample)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_one_address_and_ends_cleanly(program: Program, number: signal.Signals) -> None:
    process = program.start("view", "--port", "0", "--no-open")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken_is_told_of_in_one_line(program: Program, viewer: Viewing) -> None:
    ended = program.run("view", "--port", str(viewer.port), "--no-open")
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: Cannot listen on 127.0.0.1, port {viewer.port}: ")
    assert len(ended.stderr.splitlines()) == 1
