"""The files of TOML that pages show are read as the pages say; only addresses are other ones."""

from __future__ import annotations

import json

from tests.docs.page_reader import OpenPage, open_page, servers

__all__ = ["open_page", "servers"]


def test_the_file_of_models_names_three_and_their_settings(open_page: OpenPage) -> None:
    setting = open_page("docs/eval.md")
    setting.variables["OTHER_KEY"] = "a-key"
    setting.replacements["http://localhost:9000/v1"] = setting.judge
    setting.write("models.toml", setting.block("toml", "[[models]]"))
    setting.run("eval", "-d", "questions.jsonl", "--scorer", "mcq", "--models", "models.toml", "-o", "three.json",
                "--base-url", setting.model)  # fmt: skip
    (run,) = (setting.home / "runs").glob("*-questions-*")
    targets = json.loads((run / "run.json").read_text())["targets"]
    assert [target["model"] for target in targets] == ["my-model", "my-model", "other-model"]
    assert targets[1]["settings"] == {"temperature": 1.0, "top_p": 0.95}
    assert targets[2]["base_url"] == setting.judge


def test_the_models_of_packs_are_those_of_the_file(open_page: OpenPage) -> None:
    setting = open_page("docs/pack-authors.md")
    text = setting.block("toml", "[providers.local]", page="docs/packs.md")
    text += setting.block("toml", "[benchpacks.", page="docs/packs.md")
    setting.home.mkdir()
    setting.write(str(setting.home / "packs.toml"), text.replace("http://localhost:8000/v1", setting.model))
    setting.run("pack", "init", "./capitals")
    setting.run("pack", "run", "./capitals", "--model", "Mine")
    (run,) = (setting.home / "runs").glob("*capitals*")
    (target,) = json.loads((run / "run.json").read_text())["targets"]
    assert (target["model"], target["base_url"]) == ("Mine", setting.model)


def test_recommended_settings_of_the_file_are_sent(open_page: OpenPage) -> None:
    setting = open_page("docs/reasoning.md")
    setting.home.mkdir(exist_ok=True)
    setting.write(str(setting.home / "recommended.toml"), setting.block("toml", "[[families]]"))
    setting.run("run", "math_500", "--model", "our-qwen3-8b", "--recommended", "--base-url", setting.model)
    (run,) = (setting.home / "runs").glob("*math-500-our-qwen3*")
    (recommended,) = json.loads((run / "run.json").read_text())["about"]["recommended"].values()
    assert recommended["source"] == "https://wiki.example.org/our-qwen3"
