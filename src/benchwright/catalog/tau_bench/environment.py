"""Reader of a tau-bench domain's world: its policy, tool schemas and initial database.

Two layouts are read: a checkout of the repository (tau_bench/envs/<domain>/), and plain files
(<domain>_wiki.md, <domain>_tools.json and <domain>_<table>.json, or .json.gz). Python files are parsed, never
executed.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import xxhash

from benchwright.catalog.tau_bench.airline import AIRLINE_DOMAIN
from benchwright.catalog.tau_bench.database import Database, Tables, new_database
from benchwright.catalog.tau_bench.domain import Domain
from benchwright.catalog.tau_bench.python_source import read_tool_schemas
from benchwright.catalog.tau_bench.retail import RETAIL_DOMAIN
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetParseError, DatasetValidationError
from benchwright.records import DECODE_ERRORS

DOMAINS = {domain.name: domain for domain in (AIRLINE_DOMAIN, RETAIL_DOMAIN)}

ENVIRONMENTS_FOLDER = "tau_bench/envs"


class DomainEnvironment(msgspec.Struct, frozen=True):
    """A domain's world: its policy, tool schemas and initial database. `digest` identifies the contents."""

    domain: Domain
    policy_text: str
    tool_schemas: list[dict[str, Any]]
    tables: Tables
    digest: str

    def new_database(self) -> Database:
        """Return a new database in the initial state."""
        return new_database(self.tables)


class DomainEnvironments:
    """The worlds of all domains, read from the source of the tasks.

    Each world is read once per process, on first use.
    """

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._read: dict[str, DomainEnvironment] = {}

    def set_source(self, source: Source) -> None:
        """Set the source from which the worlds are read."""
        if source is not self._source:
            self._source = source
            self._read.clear()

    def __getitem__(self, domain: str) -> DomainEnvironment:
        """Return the world of a domain.

        Raises:
            DatasetError: If a file is missing or invalid.
        """
        if domain not in self._read:
            assert self._source is not None, "the tasks are read first"
            self._read[domain] = read_environment(self._source, DOMAINS[domain])
        return self._read[domain]

    def __reduce__(self) -> tuple[type[DomainEnvironments], tuple[Source | None]]:
        return DomainEnvironments, (self._source,)


def read_environment(source: Source, domain: Domain) -> DomainEnvironment:
    """Read the policy, tools and database of a domain from the source of the tasks.

    Raises:
        DatasetError: If a file is missing or invalid.
    """
    folder = f"{ENVIRONMENTS_FOLDER}/{domain.name}"
    checkout = (source.root / folder).is_dir()
    start = f"{folder}/data/" if checkout else f"{domain.name}_"
    wiki = source.path(f"{folder}/wiki.md" if checkout else f"{domain.name}_wiki.md").read_text("utf-8")
    if checkout:
        tools = read_tool_schemas(source.path(f"{folder}/tools"))
    else:
        tools = _decoded(source.path(f"{domain.name}_tools.json"), list[dict[str, Any]])
    tables = {table: _read_table(source, start + table) for table in domain.tables}
    digest = xxhash.xxh3_128_hexdigest(msgspec.json.encode([wiki, tools, tables]))
    return DomainEnvironment(domain, wiki, tools, tables, digest)


def _read_table(source: Source, name: str) -> dict[str, Any]:
    for suffix in (".json", ".json.gz"):
        if (source.root / (name + suffix)).is_file():
            table: dict[str, Any] = _decoded(source.path(name + suffix), dict[str, Any])
            return table
    raise DatasetNotFound(f"{source.root} holds no {name}.json, which {source.dataset.name} needs")


def _decoded(path: Path, kind: type[Any]) -> Any:
    raw = path.read_bytes()
    try:
        return msgspec.json.decode(gzip.decompress(raw) if path.suffix == ".gz" else raw, type=kind)
    except msgspec.ValidationError as error:
        raise DatasetValidationError(f"{path}: {error}") from error
    except (*DECODE_ERRORS, OSError, EOFError) as error:
        raise DatasetParseError(f"{path}: {error}") from error
