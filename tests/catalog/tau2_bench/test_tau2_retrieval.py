"""What banking_knowledge asks for outside its sandbox: a shell among documents, and documents nearest to a query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import benchmark, source
from tests.catalog.tau2_bench.tau2_kit import cancelling, write_bank
from tests.catalog.tau_bench.tau_kit import Desk, call, calling, saying

from benchwright.catalog.tau2_bench import retrieval
from benchwright.errors import ProviderError, UserError
from benchwright.records import Trial
from benchwright.sandbox.isolation_methods import find_isolation_method

DOCUMENTS = {"cards": "fee fee", "loans": "fee rate", "rates": "rate"}


class Bank(Desk):
    """A session whose model for embeddings counts two words."""

    def __init__(self, agent: Sequence[dict[str, Any]]) -> None:
        super().__init__([*agent, saying("Bye.")], ["Hello.", "###STOP###"] * 2)
        self.embedded: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
        assert slot == "embedding"
        self.embedded.append(list(texts))
        return [[float(text.count("fee")), float(text.count("rate"))] for text in texts]


async def answers(root: Path, bank: Bank, way: str, *, times: int = 1) -> list[str]:
    """What the calls of the last of so many conversations are answered."""
    write_bank(root, cancelling("task_001", actions=[]), DOCUMENTS)
    options = {"domain": "banking_knowledge", "retrieval": way, "embedding_model": "m"}
    made = benchmark("tau2_bench", options, ["user", "embedding"])
    (sample,) = made.samples(source("tau2_bench", root))
    async with made.open() as solver:
        for _ in range(times):
            outcome = await solver.solve(Trial("t", sample, bank.target), bank)
    return [message["content"] for message in outcome.artifacts["conversation"] if message["role"] == "tool"]


def shell(*commands: str) -> list[dict[str, Any]]:
    return [calling(*(call("shell", {"command": one}, number) for number, one in enumerate(commands)))]


async def test_documents_are_embedded_once_and_the_nearest_come_first(tmp_path: Path) -> None:
    asking = calling(call("KB_search_dense", {"query": "rate"}), call("KB_search_dense", {"query": " "}, 2))
    bank = Bank([asking, saying("Bye."), asking])
    found = await answers(tmp_path, bank, "alltools-qwen", times=2)
    assert found == [
        "rates 1.0, loans 0.7",
        "Error: Empty or missing input for key 'query': cannot generate embedding from blank text.",
    ]
    query = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:rate"
    assert bank.embedded == [list(DOCUMENTS.values()), [query], [query]]


async def test_a_shell_sees_the_documents_and_nothing_else_of_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    bank = Bank(
        shell("ls; cat cards.md", f"cat {secret}", "echo x > cards.md", "cat cards.md; exit 3", "sleep 9")
    )
    listed, hidden, written, still, endless = await answers(tmp_path / "data", bank, "terminal_use")
    assert listed == "0 cards.md\nloans.md\nrates.md\nfee fee"
    assert "No such file" in hidden
    assert "Permission denied" in written
    assert (still, endless) == ("3 fee fee", "too long")


async def test_what_a_shell_may_write_is_there_for_the_next_command_and_for_no_other_conversation(
    tmp_path: Path,
) -> None:
    commands = shell("ls | wc -l", "mkdir notes; echo x > notes/one; rm cards.md", "cat notes/one; ls")
    bank = Bank([*commands, saying("Bye."), *commands])
    found = await answers(tmp_path, bank, "terminal_use_write", times=2)
    assert found == ["0 3\n", "0 ", "0 x\nloans.md\nnotes\nrates.md\n"]


async def test_output_without_an_end_is_cut_off(tmp_path: Path) -> None:
    (endless,) = await answers(tmp_path, Bank(shell("yes")), "terminal_use")
    assert endless.startswith("153 y\ny\n")


async def test_a_trial_fails_with_its_model_for_embeddings(tmp_path: Path) -> None:
    class Broken(Bank):
        async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
            raise ProviderError("no embeddings")

    with pytest.raises(ProviderError, match="no embeddings"):
        await answers(tmp_path, Broken([calling(call("KB_search_dense", {"query": "x"}))]), "alltools")


async def test_a_shell_that_could_read_the_users_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(retrieval, "choose_isolation_method", lambda: find_isolation_method("limits"))
    with pytest.raises(
        UserError, match="retrieval=terminal_use gives the model a shell, which no sandbox here"
    ):
        await answers(tmp_path, Bank(shell("ls")), "terminal_use")
