"""`pack card`: a run to share, in four formats, which say what the total stands for."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.pack_kit import Packs, faulty_pack, rendered, write_pack

from benchwright.analysis.pack_card import totals_mean_text

HOSTILE = "<b>m</b>|[x](y)"


@pytest.fixture
def packs(program: Program) -> Packs:
    return Packs(program)


def card(packs: Packs, *arguments: str) -> str:
    ended = packs.program.run("pack", "card", str(packs.program.only_run), *arguments)
    assert ended.returncode == 0, ended.stderr
    return str(ended.stdout)


def test_it_has_the_packs_totals_categories_and_versions(packs: Packs, echo: str) -> None:
    packs.run(
        str(write_pack(packs.directory / "box", name="A <box>", version="1.2.3")), echo, models=("m", HOSTILE)
    )
    text = card(packs)
    assert text.startswith("A <box> 1.2.3: 4 scenarios\n")
    assert "\nm: 65 pts  ★ Weak\n" in text
    assert f"  Category A{' ' * 24} {'█' * 15}{' ' * 5} 75 pts\n" in text
    assert text.rstrip().splitlines()[-1].startswith("benchwright ")
    markdown = card(packs, "--format", "markdown")
    assert "### A &lt;box> 1.2.3" in markdown
    assert "| m | 65 pts |  | ★ Weak | Category A: 75 pts<br>Category B: 50 pts |" in markdown
    assert r"&lt;b>m&lt;/b>\|\[x\](y)" in markdown


def test_pictures_and_pages_show_names_as_they_are(packs: Packs, echo: str) -> None:
    packs.run(str(write_pack(packs.directory / "box", name="A <box>")), echo, models=("m", HOSTILE))
    for name in ("card.svg", "card.html"):
        card(packs, "-o", name)
    svg = (packs.directory / "card.svg").read_text()
    texts = [
        "".join(one.itertext()) for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")
    ]
    assert {"A <box> 1.0.0", HOSTILE, "65 pts", "75 pts", "4 scenarios"} <= set(texts)
    page = (packs.directory / "card.html").read_text()
    assert svg in page
    assert "default-src 'none'" in page
    assert "<script" not in page


def test_repeats_are_scored_one_by_one(packs: Packs, echo: str, tmp_path: Path) -> None:
    counter = tmp_path / "count"
    body = f"""
        const fs = require("node:fs");
        const count = fs.existsSync("{counter}") ? Number(fs.readFileSync("{counter}", "utf8")) : 0;
        fs.writeFileSync("{counter}", String(count + 1));
        return passed(input, {{ status: count < 2 ? "pass" : "fail" }});
    """
    pack = faulty_pack(packs.directory / "box", varies=body)
    told = packs.run(str(pack), echo, "--n", "4", "--mode", "serial")
    assert told["totalsByRepeat"] == {"endpoint:m": [2.0, 2.0, 1.0, 1.0]}
    assert "  1.5 [0.5813, 2.419] over 4 repeats\n" in card(packs)


def test_equal_repeats_claim_no_interval() -> None:
    assert totals_mean_text([2.0, 2.0, 1.0, 1.0]) == "1.5 [0.5813, 2.419] over 4 repeats"
    assert totals_mean_text([65.0] * 3) == "65 in each of 3 repeats"
    assert totals_mean_text([65.0]) == totals_mean_text([]) == ""


def test_an_incomplete_total_is_marked_and_has_no_bars(packs: Packs, echo: str) -> None:
    pack = faulty_pack(packs.directory / "box", breaks="throw new Error('broken');")
    packs.run(str(pack), echo, code=4)
    assert "incomplete: 1 of 2 cells have no result" in card(packs)
    assert "█" not in card(packs)
    assert "incomplete: 1 of 2 cells have no result" in card(packs, "--format", "svg")


def test_a_run_that_has_no_scores_says_so(packs: Packs, echo: str) -> None:
    packs.run(packs.pack("box"), echo)
    summary = packs.program.only_run / "rendered/summary.json"
    assert json.loads(rendered(packs.program.only_run, "summary.json"))["scores"]
    summary.unlink()
    ended = packs.program.run("pack", "card", str(packs.program.only_run))
    assert "has no scores yet" in one_line_of(ended.stderr)
