"""Embedding model of the category memory_vector: finds the model on this machine, and runs it in the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.bfcl.about import EMBEDDING_MODEL, PUBLISHED_WEIGHTS_DIGEST
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetNotFound, DatasetParseError
from benchwright.data.manifest import file_fingerprint
from benchwright.errors import ExecutionError, TrialError, UserError
from benchwright.records import Record
from benchwright.sandbox import Limits, LocalSandbox, SandboxProcess

ENCODER_LIBRARIES = ("sentence-transformers", "faiss-cpu")
FAISS_VERSION = "1.11.0"
"""The faiss version that BFCL's authors pin. Of sentence-transformers, they require version 2.7.0 or later."""

GiB = 2**30
SANDBOX_LIMITS = Limits(
    wall_seconds=24 * 3600.0,
    cpu_seconds=24 * 3600,
    memory_bytes=4 * GiB,
    processes=64,
    file_bytes=GiB // 4,
    disk_bytes=GiB // 2,
)
START_SECONDS = 300.0
"""Time limit in seconds for loading the libraries and the model, on a machine under load."""
REQUEST_SECONDS = 60.0
"""Time limit in seconds for one request to embed texts.

The largest request embeds a whole memory: at most 57 entries, core and archival memory together. Any other
request embeds one query.
"""


class EmbeddingModel(Record, frozen=True):
    """An embedding model: its directory, and a digest of its files.

    `departures`: differences from the BFCL authors' model and libraries.
    """

    directory: Path
    digest: str
    departures: tuple[str, ...] = ()


def find_model(data_dir: Path) -> EmbeddingModel:
    """Find the model in the data directory, in the Hugging Face cache, or on the Hugging Face hub.

    Before that, check that the libraries are installed.

    Raises:
        UserError: If a library is not installed, or the model is not found. The message states how to get it.
        DatasetError: If the hub refuses the download.
    """
    departures = []
    if (installed := _library_versions()["faiss-cpu"]) != FAISS_VERSION:
        departures.append(f"faiss-cpu {installed} instead of {FAISS_VERSION}")
    name = EMBEDDING_MODEL.name
    try:
        source = find_dataset(EMBEDDING_MODEL, data_dir)
        weights = source.path("model.safetensors")
    except (DatasetNotFound, DatasetParseError):
        raise UserError(
            f"BFCL's memory_vector needs the model {name}, where there is a network: "
            f"hf download sentence-transformers/{name}; or put its files into {data_dir / name}."
        ) from None
    if file_fingerprint(weights) != PUBLISHED_WEIGHTS_DIGEST:
        departures.append(f"the weights of {name} in {source.root} are not the published ones")
    return EmbeddingModel(source.root, source.digest, tuple(departures))


def _library_versions() -> dict[str, str]:
    try:
        return {name: version(name) for name in ENCODER_LIBRARIES}
    except PackageNotFoundError as error:
        raise UserError(
            f"BFCL's memory_vector needs {error.name}: pip install 'benchwright[bfcl-vector]'. "
            "Without it, choose memory_kv and memory_rec_sum."
        ) from None


class Encoder:
    """Embeds texts in one process that all conversations share, because loading takes seconds and 1 GB of memory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sandbox = LocalSandbox(SANDBOX_LIMITS)
        self._lock = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._process: SandboxProcess | None = None

    async def start(self) -> None:
        """Start the process.

        This blocks the event loop for a moment, so call it before any request is timed.

        Raises:
            UserError: If the model or the libraries cannot be loaded.
        """
        try:
            await self._start()
        except (ExecutionError, OSError) as error:
            await self.close()
            raise UserError(f"The model of BFCL's memory_vector cannot be loaded: {error}") from error

    async def encode(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to the process, and return the response. `inside/encoder.py` describes both formats.

        Raises:
            TrialError: If the process cannot be started, or has ended.
        """
        async with self._lock:
            answer = None
            try:
                process = self._process or await self._start()
                await process.send(msgspec.json.encode(question))
                answer = msgspec.json.decode(await process.receive(REQUEST_SECONDS), type=dict[str, Any])
            except ExecutionError as error:
                raise TrialError(f"the embedding model failed: {error}") from error
            finally:
                if answer is None:  # a late answer could reach another caller
                    await self.close()
            return answer

    async def close(self) -> None:
        """Stop the process."""
        self._process = None
        await self._stack.aclose()

    async def _start(self) -> SandboxProcess:
        files = await asyncio.to_thread(sandbox_files, self._directory)
        process = await self._stack.enter_async_context(
            self._sandbox.start_process(["python3", "encoder.py"], files=files)
        )
        await process.receive(START_SECONDS)
        self._process = process
        return process


def sandbox_files(directory: Path) -> dict[str, bytes]:
    """Return the sandbox's files: the program, and next to it a folder with the model's files."""
    program = Path(__file__).parent / "inside" / "encoder.py"
    names = EMBEDDING_MODEL.splits[EMBEDDING_MODEL.evaluated_split]
    model = {f"model/{name}": (directory / name).read_bytes() for name in names}
    return {"encoder.py": program.read_bytes(), **model}
