"""Two quantizations of the model, each behind a server of its own, compared sample by sample."""

from __future__ import annotations

import pytest
from tests.field.field_kit import CAPITALS, ONE_SENTENCE, PRECISE, Field, finish
from tests.field.kept import requantized
from tests.field.servers.llama_cpp import compiled
from tests.field.servers.server import MODEL

COARSE = "Q2_K"
MODELS = """
[[models]]
name = "fine"
model = "{model}"
base_url = "{fine}"

[[models]]
name = "coarse"
model = "{model}"
base_url = "{coarse}"
"""


@pytest.mark.feature("compared")
def test_two_quantizations_are_compared_pair_by_pair(
    field: Field, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with compiled(tmp_path_factory.mktemp("coarse"), requantized(COARSE)) as coarse:
        text = MODELS.format(model=MODEL, fine=field.running.base_url, coarse=coarse.base_url)
        models, rows = field.program.write("models.toml", text), field.rows(CAPITALS)
        options = ("--scorer", "regex", "--max-tokens", "24", *ONE_SENTENCE, *PRECISE)
        command = ("eval", "-d", rows, "--models", models, *options, "--json")
        ended = finish(field.program.start(*command))
    assert ended.returncode == 0, ended.stderr
    print(ended.stdout)
    assert 0
