"""What the authors' ways into the documents of banking_knowledge find in place of services. Runs in the sandbox.

A shell and a model for embeddings are outside: what they are asked goes out as a question, and the answer comes back.

    {"shell": {"command": "ls", "seconds": 30, "files": {"INDEX.md": "…"}}}
        -> {"code": 0, "stdout": "…", "stderr": ""}
    {"search": {"query": "annual fee", "most": 10}}
        -> [["doc_1", 0.71], …]

`files` are the documents as the authors write them down, with the first command only; a `code` of null is a command
that took too long.
"""

from __future__ import annotations

import importlib
import subprocess
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Ask = Callable[[dict[str, Any]], Any]

_PIPELINE = (
    *("tau2.knowledge.document_preprocessors.bm25_indexer", "tau2.knowledge.retrievers.bm25_retriever"),
    "tau2.knowledge.retrievers.grep_retriever",
)
"""What retrieval by words registers; the rest would be imported with it."""


def prepare(ask: Ask) -> None:
    """Registers all that the ways of retrieval need, in place of what there is."""
    for name in _PIPELINE:
        importlib.import_module(name)
    registry = importlib.import_module("tau2.knowledge.registry")
    registry.DOCUMENT_PREPROCESSORS["embedding_indexer"] = Unchanged
    registry.INPUT_PREPROCESSORS["embedding_encoder"] = QueryGiven
    registry.RETRIEVERS["cosine"] = lambda **settings: Nearest(ask, **settings)
    vars(importlib.import_module("tau2.knowledge"))["_registered"] = True
    shell = types.SimpleNamespace(run=Shell(ask).run, TimeoutExpired=subprocess.TimeoutExpired)
    manager = importlib.import_module("tau2.knowledge.sandbox_manager")
    vars(manager).update(_DEPS_VERIFIED=True, subprocess=shell)


class Unchanged:
    """In place of the step that embeds documents: they are embedded outside, once for all conversations."""

    def __init__(self, **settings: Any) -> None:
        pass

    def process(self, given: Any, state: dict[str, Any]) -> Any:
        """What is given."""
        return given


class QueryGiven(Unchanged):
    """In place of the step that embeds a query; like that one it refuses one that says nothing."""

    def process(self, given: Any, state: dict[str, Any]) -> Any:
        """What is given.

        Raises:
            ValueError: the query is blank; the model reads the message.
        """
        query = given["query"]
        if not query or not query.strip():
            raise ValueError(
                "Empty or missing input for key 'query': cannot generate embedding from blank text."
            )
        return given


class Nearest:
    """Has the documents ranked by how near their vectors are to the query's."""

    def __init__(self, ask: Ask, top_k: int = 10, **settings: Any) -> None:
        self._ask = ask
        self.top_k = top_k

    def retrieve(self, given: dict[str, Any], state: dict[str, Any]) -> list[tuple[str, float]]:
        """The ids of the nearest documents with their cosines, the nearest first."""
        found = self._ask({"search": {"query": given["query"], "most": self.top_k}})
        return [(name, score) for name, score in found]


class Shell:
    """Takes the place of `subprocess` where the authors' code starts its own sandbox."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._knows_the_files = False

    def run(
        self, argv: list[str], *, timeout: float, cwd: str, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs the last argument as a command of bash, in a folder with the files of `cwd`.

        Raises:
            subprocess.TimeoutExpired: it takes longer than `timeout` seconds.
        """
        question: dict[str, Any] = {"command": argv[-1], "seconds": timeout}
        if not self._knows_the_files:
            question["files"] = {file.name: file.read_text(encoding="utf-8") for file in Path(cwd).iterdir()}
            self._knows_the_files = True
        ended = self._ask({"shell": question})
        if ended["code"] is None:
            raise subprocess.TimeoutExpired(argv, timeout)
        return subprocess.CompletedProcess(argv, ended["code"], ended["stdout"], ended["stderr"])
