"""What finding banking_knowledge's documents needs outside the domain's sandbox: a shell, and ranks by embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from benchwright.catalog.tau2_bench.about import EMBEDDED, QWEN, SHELLS
from benchwright.data.errors import DatasetParseError
from benchwright.engine.protocols import EmbeddingSession, Session
from benchwright.errors import UserError
from benchwright.records import UNREADABLE, Record
from benchwright.sandbox import Limits, LocalSandbox, choose_protection
from benchwright.sandbox.limits import MiB

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

QWEN_QUERY = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:{query}"
)
"""How the authors ask Qwen's models for the vector of a query, word for word."""

TEXTS_AT_ONCE = 64
"""Documents in a request for embeddings."""

OUTPUT = 4 * MiB
"""Bytes of a command's output, of its complaints and of each file that it may write."""

SHELL_LIMITS = Limits(
    cpu_seconds=60, file_bytes=OUTPUT, kept_bytes=64 * MiB, output_bytes=64 * MiB, disk_bytes=64 * MiB
)


class Command(Record, frozen=True):
    """A command of bash for the folder of documents, and how long it may take.

    `files` are the documents, {name: text}, with a conversation's first command.
    """

    command: str
    seconds: float
    files: dict[str, str] = {}


class Search(Record, frozen=True):
    """A query, and how many documents it wants at most."""

    query: str
    most: int


class Question(Record, frozen=True):
    """What a sandboxed domain asks for while it makes a call: one of the two."""

    shell: Command | None = None
    search: Search | None = None


class Ended(Record, frozen=True):
    """How a command ended: its exit code (None: it took too long), and what it wrote."""

    code: int | None
    stdout: str
    stderr: str
    files: dict[str, str] | None = None


class Helper(Protocol):
    """Who answers what a domain asks for in one conversation."""

    async def answer(self, question: Question) -> Any:
        """The answer, as JSON can hold it."""
        ...


class Retrieval:
    """Opens a helper for each conversation; documents are embedded once for all of them."""

    def __init__(self, name: str, documents: Mapping[str, str]) -> None:
        """`name` is the way of retrieval, `documents` are texts by their ids."""
        self._writes = name == "terminal_use_write"
        self._nearest = Nearest(documents, QWEN_QUERY if EMBEDDED.get(name) == QWEN else "{query}")
        self._sandbox = LocalSandbox(SHELL_LIMITS)

    def helper(self, session: Session) -> Helper:
        """One that asks for embeddings with the trial's session."""
        return _Helper(Shell(self._sandbox, self._writes), self._nearest, session)


class _Helper:
    def __init__(self, shell: Shell, nearest: Nearest, session: Session) -> None:
        self._shell = shell
        self._nearest = nearest
        self._session = session

    async def answer(self, question: Question) -> Any:
        if question.shell is not None:
            return msgspec.to_builtins(await self._shell.run(question.shell))
        assert question.search is not None
        return await self._nearest.find(question.search, cast(EmbeddingSession, self._session))


class Shell:
    """Runs commands of one conversation, each in a fresh sandbox that holds the documents and nothing else.

    Where they may write, the files that a command leaves are there for the next.
    """

    def __init__(self, sandbox: LocalSandbox, writes: bool) -> None:
        self._sandbox = sandbox
        self._writes = writes
        self._files: dict[str, str] = {}
        self._program = (Path(__file__).parent / "inside" / "shell.py").read_bytes()

    async def run(self, asked: Command) -> Ended:
        """Runs a command. What is ended by a limit has exit code 137, one that takes too long none.

        Raises:
            ExecutionError: the sandbox cannot be started.
        """
        self._files = self._files or asked.files
        ended = await self._sandbox.run(
            ["python3", "shell.py"],
            files={f"knowledge_base/{name}": text.encode() for name, text in self._files.items()}
            | {"shell.py": self._program},
            stdin=msgspec.json.encode({"command": asked.command, "writes": self._writes}),
            limits=msgspec.structs.replace(self._sandbox.limits, wall_seconds=asked.seconds),
        )
        if ended.reason == "timeout":
            return Ended(None, "", "")
        try:
            answer = msgspec.json.decode(ended.stdout, type=Ended)
        except UNREADABLE:
            return Ended(137, "", "Killed")
        self._files = answer.files if answer.files is not None else self._files
        return msgspec.structs.replace(answer, files=None)


class Nearest:
    """Documents ranked by the cosine of their vectors with a query's, as by the authors' cosine_retriever.py."""

    def __init__(self, documents: Mapping[str, str], query: str) -> None:
        self._documents = documents
        self._query = query
        self._vectors: Vectors | None = None
        self._embedding = asyncio.Lock()

    async def find(self, search: Search, session: EmbeddingSession) -> list[tuple[str, float]]:
        """Ids and cosines of the nearest, the nearest first.

        Raises:
            ProviderError: the embedding model gives no usable answer.
        """
        import numpy as np

        async with self._embedding:
            if self._vectors is None:
                self._vectors = _of_length_one(await self._embedded(session))
        (vector,) = await session.embed([self._query.format(query=search.query)], slot="embedding")
        query = np.array(vector)
        length = np.linalg.norm(query)
        cosines = self._vectors @ (query / length if length else query)
        ids = list(self._documents)
        return [(ids[place], float(cosines[place])) for place in np.argsort(cosines)[::-1][: search.most]]

    async def _embedded(self, session: EmbeddingSession) -> Vectors:
        import numpy as np

        texts = list(self._documents.values())
        found: list[list[float]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            found += await session.embed(texts[start : start + TEXTS_AT_ONCE], slot="embedding")
        return np.array(found)


def _of_length_one(vectors: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.where(lengths == 0, 1, lengths)
    return unit


class _Document(Record, frozen=True):
    id: str
    content: str


def documents_in(files: Mapping[str, bytes]) -> dict[str, str]:
    """The documents among the files of the domain, by their ids, in the order of the files' names.

    Raises:
        DatasetParseError: one is none.
    """
    documents = {}
    for name, content in sorted(files.items()):
        if "/documents/" in name:
            try:
                read = msgspec.json.decode(content, type=_Document)
            except UNREADABLE as error:
                raise DatasetParseError(f"{name}: {error}") from error
            documents[read.id] = read.content
    return documents


def check_shell(retrieval: str) -> None:
    """Sees that a shell, where this way of retrieval has one, is kept from all files but the documents.

    Raises:
        UserError: no protection that works here does so.
    """
    if retrieval not in SHELLS:
        return
    if choose_protection().name == "limits":
        raise UserError(
            f"retrieval={retrieval} gives the model a shell, which no sandbox here keeps from your files: install "
            "bubblewrap (`benchwright doctor` says what works), or choose --option retrieval=bm25."
        )
