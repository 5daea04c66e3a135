"""Benchmarks with images from end to end: asked, scored, kept, shown, exported, estimated, and refused."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program, trials
from tests.catalog.made_up_rows import COUNT, mmmu_pro
from tests.catalog.played import scripts
from tests.drawn import png, url
from tests.http_server import QuietHandler, served_by
from tests.simulated import simulated_endpoint

from benchwright.runs.journal import BODIES_FILE, read_body
from benchwright.runs.pictures import PICTURES_FOLDER

ALL_B = {"prompt": "Write out the", "replies": [{"role": "assistant", "content": "Answer: B"}]}


class RefusesImages(QuietHandler):
    """A server without a model that takes images, in the words of llama.cpp."""

    def do_GET(self) -> None:
        self.answer(200, b'{"data": [{"id": "m"}]}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(500, b'{"error": {"message": "image input is not supported"}}')


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model that answers question 2 wrongly, and says B to every question that is an image."""
    rows = tmp_path_factory.mktemp("rows") / "mmmu_pro"
    mmmu_pro(rows)
    played = asyncio.run(scripts("mmmu_pro", rows, wrong=[2]))
    with simulated_endpoint(scripts=[*played, ALL_B]) as base_url:
        yield base_url


def running(program: Program, base_url: str, *names: str) -> list[str]:
    mmmu_pro(program.directory / "data" / "mmmu_pro")
    return ["run", *names, "--model", "m", "--base-url", base_url]


def test_scores_are_exact_and_each_image_is_kept_once(program: Program, endpoint: str) -> None:
    ended = program.run(*running(program, endpoint, "mmmu_pro", "mmmu_pro:vision"), "--n", "5")
    assert ended.returncode == 0, ended.stderr
    assert "MMMU-Pro: accuracy 0.7500  (15 of 20 correct)" in ended.stdout
    assert "MMMU-Pro: accuracy 0.2500  (5 of 20 correct)" in ended.stdout
    standard, vision = program.runs
    shared = 1
    assert len(list((standard / PICTURES_FOLDER).iterdir())) == COUNT + shared
    assert len(list((vision / PICTURES_FOLDER).iterdir())) == COUNT
    assert b"base64" not in (standard / BODIES_FILE).read_bytes() + (vision / BODIES_FILE).read_bytes()
    body = read_body(vision, trials(vision)[0])
    assert body.messages[1]["content"][1]["image_url"]["url"] == url(png(100))


def test_images_are_told_in_a_terminal_and_in_a_report_and_go_into_exports(
    program: Program, endpoint: str
) -> None:
    assert program.run(*running(program, endpoint, "mmmu_pro:vision")).returncode == 0
    run = program.only_run.name
    assert "[image png 3×2, 1 kB]" in program.run("show", run, "--sample", "test_Music_0").stdout
    assert program.run("report", run, "-o", "report.html").returncode == 0
    report = (program.directory / "report.html").read_text()
    assert f'<img src="{url(png(100))}" alt="[image png 3×2, 1 kB]">' in report.replace("&#43;", "+")
    assert "img-src data:;" in report

    assert program.run("export", run, "--format", "inspect", "-o", "logs").returncode == 0
    (log,) = (program.directory / "logs").glob("*.eval")
    with zipfile.ZipFile(log) as archive:
        sample = json.loads(archive.read("samples/test_Music_1_epoch_1.json"))
    text, image = sample["messages"][1]["content"]
    assert text["text"].startswith("Write out the multiple-choice question")
    assert image == {"type": "image", "image": url(png(101))}

    assert program.run("export", run, "--format", "atif", "-o", "steps").returncode == 0
    (path,) = (program.directory / "steps").glob("test_Music_1-*.json")
    _, part = json.loads(path.read_text())["steps"][1]["message"]
    assert part["source"]["media_type"] == "image/png"
    assert (path.parent / part["source"]["path"]).read_bytes() == png(101)


def test_a_dry_run_says_what_it_assumes_of_images(program: Program) -> None:
    told = program.run(*running(program, NOWHERE, "mmmu_pro:vision"), "--dry-run").stdout
    assert "images at a token for 28×28 pixels and at most 16,384" in told


def test_a_server_that_refuses_images_gives_errors_and_no_scores(program: Program) -> None:
    with served_by(RefusesImages) as address:
        ended = program.run(*running(program, f"{address}/v1", "mmmu_pro:vision", "--no-probe"))
    assert ended.returncode == 1
    assert "the first 4 trials failed with the same error" in ended.stderr
    said = {(trial.status, trial.requests[0].attempts, trial.reason) for trial in trials(program.only_run)}
    assert said == {
        (
            "provider_error",
            1,
            f"{address}/v1 refused an image (HTTP 500: image input is not supported). "
            "Ask a model whose server takes images of this kind and size.",
        )
    }


def test_a_row_whose_image_is_none_is_one_line_before_the_first_request(program: Program) -> None:
    arguments = running(program, NOWHERE, "mmmu_pro:vision")
    rows = Path(program.directory, "data", "mmmu_pro", "vision.jsonl")
    rows.write_text(rows.read_text().replace("iVBORw0KGgo", "PHN2Zy8+AAA", 1))
    ended = program.run(*arguments)
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert "vision.jsonl, line 1: Row 0: this is no PNG, JPEG, GIF or WebP image" in line
