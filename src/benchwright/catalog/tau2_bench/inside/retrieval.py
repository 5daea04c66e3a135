"""Replacements for the services that the authors' retrieval methods for banking_knowledge use.

Runs in the sandbox.

The shell and the embedding model are outside the sandbox. Each request to either is written out as a question,
and the host replies with the answer.

    {"shell": {"command": "ls", "seconds": 30, "files": {"INDEX.md": "…"}}}
        -> {"code": 0, "stdout": "…", "stderr": ""}
    {"search": {"query": "annual fee", "most": 10}}
        -> [["doc_1", 0.71], …]

`files` are the documents as the authors write them to disk. They are sent with the first command only. A
`code` of null means that the command timed out.
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
"""The modules that register keyword retrieval.

They are imported one by one, because importing their package would import the other methods, too.
"""


def prepare(ask: Ask) -> None:
    """Register the components of all retrieval methods.

    Components that need a service are replaced. The replacements send their requests by `ask`.
    """
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
    """Replacement for the step that embeds documents. It changes nothing.

    The documents are embedded outside the sandbox, once for all conversations.
    """

    def __init__(self, **settings: Any) -> None:
        pass

    def process(self, given: Any, state: dict[str, Any]) -> Any:
        """Return the documents unchanged."""
        return given


class QueryGiven(Unchanged):
    """Replacement for the step that embeds a query.

    It passes the query on unchanged. Like the original, it refuses a blank query.
    """

    def process(self, given: Any, state: dict[str, Any]) -> Any:
        """Return the input unchanged.

        Raises:
            ValueError: If the query is blank. The model receives the error message.
        """
        query = given["query"]
        if not query or not query.strip():
            raise ValueError(
                "Empty or missing input for key 'query': cannot generate embedding from blank text."
            )
        return given


class Nearest:
    """A retriever that asks the host for the documents whose embeddings are nearest to that of the query."""

    def __init__(self, ask: Ask, top_k: int = 10, **settings: Any) -> None:
        self._ask = ask
        self.top_k = top_k

    def retrieve(self, given: dict[str, Any], state: dict[str, Any]) -> list[tuple[str, float]]:
        """Return the ids of the nearest documents and their cosine similarities, nearest first."""
        found = self._ask({"search": {"query": given["query"], "most": self.top_k}})
        return [(name, score) for name, score in found]


class Shell:
    """Replacement for the module `subprocess`, in the module of the authors' code that starts their own sandbox."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._knows_the_files = False

    def run(
        self, argv: list[str], *, timeout: float, cwd: str, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run the last element of `argv` as a bash command on the host, in a folder with the files in `cwd`.

        Raises:
            subprocess.TimeoutExpired: If the command takes longer than `timeout` seconds.
        """
        question: dict[str, Any] = {"command": argv[-1], "seconds": timeout}
        if not self._knows_the_files:
            question["files"] = {file.name: file.read_text(encoding="utf-8") for file in Path(cwd).iterdir()}
            self._knows_the_files = True
        ended = self._ask({"shell": question})
        if ended["code"] is None:
            raise subprocess.TimeoutExpired(argv, timeout)
        return subprocess.CompletedProcess(argv, ended["code"], ended["stdout"], ended["stderr"])
