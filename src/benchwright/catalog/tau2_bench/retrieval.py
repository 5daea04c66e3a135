"""The host side of document retrieval in tau2-bench (banking_knowledge): shell and embedding search."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from benchwright.catalog.tau2_bench.about import EMBEDDING_MODELS, QWEN, SHELL_RETRIEVAL_METHODS
from benchwright.data.errors import DatasetParseError
from benchwright.engine.protocols import EmbeddingSession, Session
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Record
from benchwright.sandbox import Limits, LocalSandbox, choose_isolation_method
from benchwright.sandbox.limits import MiB

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]

QWEN_QUERY_PROMPT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:{query}"
)
"""The authors' prompt for embedding queries with Qwen's models, word for word."""

TEXTS_PER_REQUEST = 64
"""Maximum number of documents in one request for embeddings."""

MAX_OUTPUT_BYTES = 4 * MiB
"""Maximum size in bytes of a command's stdout, of its stderr, and of each file that the command may write."""

SHELL_LIMITS = Limits(
    cpu_seconds=60,
    file_bytes=MAX_OUTPUT_BYTES,
    kept_bytes=64 * MiB,
    output_bytes=64 * MiB,
    disk_bytes=64 * MiB,
)


class Command(Record, frozen=True):
    """A bash command to run in the folder of documents, and its time limit in seconds.

    `files`: the documents, {name: text}, in the first command of a conversation. In later commands, it is
    empty.
    """

    command: str
    seconds: float
    files: dict[str, str] = {}


class Search(Record, frozen=True):
    """A query for a search by embeddings, and the maximum number of documents to return."""

    query: str
    most: int


class Question(Record, frozen=True):
    """A request that a sandboxed domain makes while a tool runs: a shell command or a search."""

    shell: Command | None = None
    search: Search | None = None


class CommandResult(Record, frozen=True):
    """The result of a command: its exit code (None if it timed out), and its output."""

    code: int | None
    stdout: str
    stderr: str
    files: dict[str, str] | None = None


class RetrievalHelper(Protocol):
    """The host's side of document retrieval in one conversation."""

    async def answer_question(self, question: Question) -> Any:
        """Return the answer to a question, as a value that JSON can represent."""
        ...


class Retrieval:
    """A retrieval method, which creates a helper for each conversation.

    The documents are embedded once, for all conversations.
    """

    def __init__(self, name: str, documents: Mapping[str, str]) -> None:
        """Create the retrieval method called `name` for `documents`, {id: text}."""
        self._writes = name == "terminal_use_write"
        self._nearest = EmbeddingIndex(
            documents, QWEN_QUERY_PROMPT if EMBEDDING_MODELS.get(name) == QWEN else "{query}"
        )
        self._sandbox = LocalSandbox(SHELL_LIMITS)

    def create_retrieval_helper(self, session: Session) -> RetrievalHelper:
        """Create a helper that requests embeddings through the trial's session."""
        return _Helper(Shell(self._sandbox, self._writes), self._nearest, session)


class _Helper:
    def __init__(self, shell: Shell, nearest: EmbeddingIndex, session: Session) -> None:
        self._shell = shell
        self._nearest = nearest
        self._session = session

    async def answer_question(self, question: Question) -> Any:
        if question.shell is not None:
            return msgspec.to_builtins(await self._shell.run_command(question.shell))
        assert question.search is not None
        return await self._nearest.find_documents(question.search, cast(EmbeddingSession, self._session))


class Shell:
    """Runner for the shell commands of one conversation.

    Each command runs in a fresh sandbox that contains only the documents. If commands may write, the next
    command finds the files that the previous command left.
    """

    def __init__(self, sandbox: LocalSandbox, writes: bool) -> None:
        self._sandbox = sandbox
        self._writes = writes
        self._files: dict[str, str] = {}
        self._program = (Path(__file__).parent / "inside" / "shell.py").read_bytes()

    async def run_command(self, asked: Command) -> CommandResult:
        """Run a command and return its result.

        The exit code is 137 if a limit killed the command, and None if the command timed out.

        Raises:
            ExecutionError: If the sandbox cannot be started.
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
            return CommandResult(None, "", "")
        try:
            answer = msgspec.json.decode(ended.stdout, type=CommandResult)
        except DECODE_ERRORS:
            return CommandResult(137, "", "Killed")
        self._files = answer.files if answer.files is not None else self._files
        return msgspec.structs.replace(answer, files=None)


class EmbeddingIndex:
    """Search for the documents nearest to a query, by the cosine of embeddings (cosine_retriever.py)."""

    def __init__(self, documents: Mapping[str, str], query: str) -> None:
        self._documents = documents
        self._query = query
        self._vectors: Vectors | None = None
        self._embedding = asyncio.Lock()

    async def find_documents(self, search: Search, session: EmbeddingSession) -> list[tuple[str, float]]:
        """Return (document id, cosine) of the documents nearest to the query, nearest first.

        Raises:
            ProviderError: If the embedding model returns no usable response.
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
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            found += await session.embed(texts[start : start + TEXTS_PER_REQUEST], slot="embedding")
        return np.array(found)


def _of_length_one(vectors: Vectors) -> Vectors:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.where(lengths == 0, 1, lengths)
    return unit


class _Document(Record, frozen=True):
    id: str
    content: str


def parse_documents(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the documents among a domain's files, {id: text}, in the order of the file names.

    Raises:
        DatasetParseError: If a file is not a valid document.
    """
    documents = {}
    for name, content in sorted(files.items()):
        if "/documents/" in name:
            try:
                read = msgspec.json.decode(content, type=_Document)
            except DECODE_ERRORS as error:
                raise DatasetParseError(f"{name}: {error}") from error
            documents[read.id] = read.content
    return documents


def check_shell(retrieval: str) -> None:
    """Check that the shell of this retrieval method can read no files but the documents.

    Do nothing if the method has no shell.

    Raises:
        UserError: If no sandbox on this machine can restrict the shell in this way.
    """
    if retrieval not in SHELL_RETRIEVAL_METHODS:
        return
    if choose_isolation_method().name == "limits":
        raise UserError(
            f"retrieval={retrieval} gives the model a shell, which no sandbox here keeps from your files: install "
            "bubblewrap (`benchwright doctor` says what works), or choose --option retrieval=bm25."
        )
