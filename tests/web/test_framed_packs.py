"""`pack open`: a web pack's page in its frame, and what its host answers and keeps from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, expect
from tests.app.app_kit import Program, one_line_of
from tests.simulated import simulated_endpoint
from tests.web.web_pack_kit import Opened, WebPacks, web_packs

pytestmark = pytest.mark.slow

CHAT = {"modelId": "endpoint:m", "messages": [{"role": "user", "content": "say hello"}]}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with simulated_endpoint() as url:
        yield url


@pytest.fixture
def packs(program: Program) -> Iterator[WebPacks]:
    with web_packs(program) as packs:
        packs.write(historyPlayback=True, buildId="b1")
        yield packs


@pytest.fixture(scope="module")
def opened(shared_program: Program, chromium: Browser, endpoint: str) -> Iterator[Opened]:
    """A page that asks and saves nothing, for the tests of the module."""
    with web_packs(shared_program) as packs:
        packs.write(historyPlayback=True, buildId="b1")
        with packs.opened(chromium, endpoint) as opened:
            yield opened


def test_the_page_learns_where_it_is_and_which_models_there_are(opened: Opened) -> None:
    told = opened.ask("capabilities")
    assert told["pack"] == {
        "id": "forms", "name": "Forms", "version": "1.2.0", "entry": told["pack"]["entry"], "buildId": "b1"
    }  # fmt: skip
    assert told["history"] == {"runId": None, "mode": "live", "playback": True}
    (model,) = opened.ask("models.getSelected")["models"]
    assert (model["id"], model["model"], model["label"], model["providerId"]) == (
        "endpoint:m", "m", "m", "endpoint"
    )  # fmt: skip


def test_it_asks_a_model_whole(opened: Opened) -> None:
    answer = opened.ask("inference.chat", CHAT)
    assert (answer["content"], answer["message"]["role"], answer["modelId"]) == (
        "say hello",
        "assistant",
        "endpoint:m",
    )
    assert answer["usage"]["completion_tokens"] > 0


def test_it_asks_a_model_piece_by_piece(opened: Opened) -> None:
    opened.frame.evaluate("chat => ask('inference.streamChat', chat, 's1')", CHAT)
    opened.frame.wait_for_function("() => streams.s1?.at(-1).done")
    told = [one["event"] for one in opened.frame.evaluate("() => streams.s1")]
    assert [told[0]["type"], told[-1]["type"], told[-1]["content"]] == ["start", "done", "say hello"]
    assert "".join(one.get("content", "") for one in told if one["type"] == "delta") == "say hello"


@pytest.mark.parametrize(
    ("method", "payload", "why"),
    [
        ("inference.chat", {**CHAT, "modelId": "other"}, "failed with 404"),
        ("inference.chat", {"modelId": "endpoint:m"}, "failed with 400"),
        ("history.save", {"status": "won"}, "The status of a session is one of"),
        ("files.read", {}, "does not know files.read"),
        ("constructor", {}, "does not know constructor"),
    ],
)
def test_what_it_may_not_ask_is_refused(opened: Opened, method: str, payload: object, why: str) -> None:
    with pytest.raises(Error, match=why):
        opened.ask(method, payload)


def test_what_its_manifest_does_not_ask_for_is_not_given(
    packs: WebPacks, chromium: Browser, endpoint: str
) -> None:
    packs.write(["models:list", "media:microphone"])
    said: list[str] = []
    with packs.opened(chromium, endpoint, said=said) as opened:
        assert len(opened.ask("models.list")["models"]) == 1
        for method in (
            "models.getSelected",
            "inference.chat",
            "runs.startState",
            "history.load",
            "history.writeArtifact",
        ):
            with pytest.raises(Error, match="has no permission"):
                opened.ask(method, {})
    assert "Not given, as this host does not know it: media:microphone" in said
    assert said[-1] == "The page saved nothing."


def test_what_it_saves_is_a_summary_with_the_pack_the_score_and_the_requests(
    packs: WebPacks, chromium: Browser, endpoint: str
) -> None:
    said: list[str] = []
    with packs.opened(chromium, endpoint, said=said) as opened:
        opened.ask("runs.startState", {"message": "Filling forms."})
        opened.ask("inference.chat", CHAT)
        opened.ask("runs.updateProgress", {"progress": 0.5, "message": "Half.", "metadata": {"tasks": 2}})
        score = {"totalScore": 87, "categories": [{"id": "a", "label": "Forms", "score": 87}]}
        opened.ask("history.save", {"status": "completed", "score": score, "metadata": {"level": "mixed"}})
    saved = packs.summary
    assert {name: saved[name] for name in ("packType", "packVersion", "packBuildId", "benchPackId", "scores")} == {
        "packType": "web", "packVersion": "1.2.0", "packBuildId": "b1", "benchPackId": "forms",
        "scores": {"endpoint:m": score},
    }  # fmt: skip
    assert saved["webHistory"]["metadata"] == {"tasks": 2, "level": "mixed"}
    assert [event["payload"]["message"] for event in saved["webHistory"]["events"]] == ["Half."]
    assert saved["requestsByModel"]["endpoint:m"]["requests"] == 1
    assert said[-2].endswith("(completed, total 87)")


def test_a_saved_session_is_shown_again_and_goes_on(
    packs: WebPacks, chromium: Browser, endpoint: str
) -> None:
    with packs.opened(chromium, endpoint) as opened:
        run = opened.ask("history.save", {"status": "completed", "metadata": {"a": 1}})["runId"]
    with packs.opened(chromium, endpoint, "--history", run[-8:]) as opened:
        assert opened.ask("capabilities")["history"] == {"runId": run, "mode": "history", "playback": True}
        assert opened.ask("history.load")["payload"]["metadata"] == {"a": 1}
        assert opened.ask("history.save", {"metadata": {"b": 2}})["runId"] == run
    assert packs.summary["webHistory"]["metadata"] == {"a": 1, "b": 2}


def test_files_stay_inside_the_session(packs: WebPacks, chromium: Browser, endpoint: str) -> None:
    with packs.opened(chromium, endpoint) as opened:
        put = "(path) => ask('history.writeArtifact', { kind: 'json', label: 'Trace 1', path, content: 'x' })"
        places = [
            opened.frame.evaluate(put, path)["path"]
            for path in ("artifacts/t.json", "../../../t.txt", "/etc/t", "")
        ]
        whole = "ask('history.writeArtifact', { kind: 'b', label: 'b', content: new Uint8Array([0, 255]) })"
        places.append(opened.frame.evaluate(whole)["path"])
    assert places == [
        "artifacts/t.json", "artifacts/t.txt", "artifacts/etc/t", "artifacts/trace-1.txt", "artifacts/b.txt"
    ]  # fmt: skip
    (session,) = packs.program.home.glob("web-sessions/forms/*")
    assert (session / "artifacts/b.txt").read_bytes() == b"\x00\xff"
    assert [note["path"] for note in packs.summary["webHistory"]["artifacts"]] == places


def test_a_person_can_ask_it_to_stop(opened: Opened) -> None:
    stop = opened.page.get_by_role("button", name="Stop")
    expect(stop).to_be_hidden()
    opened.ask("runs.startState", {"message": "At work."})
    expect(opened.page.get_by_role("status").first).to_have_text("At work.")
    stop.click()
    opened.frame.wait_for_function("() => events.length === 1")
    assert opened.frame.evaluate("() => events[0].event") == "runs.stopRequested"
    opened.ask("runs.stopState", {})
    expect(stop).to_be_hidden()


def test_the_page_reaches_neither_its_host_nor_an_address_or_a_key(opened: Opened, endpoint: str) -> None:
    with pytest.raises(Error, match="SecurityError"):
        opened.frame.evaluate("() => parent.document.body.innerHTML")
    sent = "{ method: 'POST', body: '{}', credentials: 'include' }"
    reached = f"(address) => fetch(address, {sent}).then(() => 1, () => 0)"
    assert opened.frame.evaluate(reached, f"{opened.address}/bridge/history") == 0
    told = str([opened.ask("capabilities"), opened.ask("models.list"), opened.ask("inference.chat", CHAT)])
    assert endpoint not in told


def test_the_frame_stays_with_the_packs_own_pages(packs: WebPacks, chromium: Browser, endpoint: str) -> None:
    with packs.opened(chromium, endpoint) as opened:
        opened.frame.evaluate("(address) => { location.href = address }", f"{endpoint}/models")
        opened.page.wait_for_timeout(300)
        assert not any(frame.url.startswith(endpoint) for frame in opened.page.frames)


def test_a_pack_of_the_usual_kind_is_run_and_not_opened(program: Program) -> None:
    from tests.app.pack_kit import write_pack

    path = write_pack(program.directory / "box")
    ended = program.run("pack", "open", str(path), "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert "box is not a web pack: run it with: benchwright pack run box" in one_line_of(ended.stderr)
