"""How a run was made: model, settings, data, versions and dates. Keys and paths on this machine are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchwright.analysis.comparison.sides import SideFacts
from benchwright.analysis.report.records import ConfigurationFact
from benchwright.endpoint.card import Card
from benchwright.formats import count_with_noun
from benchwright.runs.cards import card_lines
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import DataFile, Manifest

SEPARATE_SETTINGS = frozenset(
    {"model", "base_url", "headers", "baseline_model", "baseline_base_url", "concurrency", "n"}
)
"""Settings that are not listed with the other settings, because they have lines of their own."""

FACT_NAMES = {
    "protocol": "protocol",
    "source": "source of the protocol",
    "licence": "licence of the data",
    "metric": "metric",
    "sandbox": "sandbox",
    "mode": "order of the cells",
    "version": "version of the pack",
    "generation": "generation settings",
    "metered": "metered",
}


def facts_of_run(
    manifest: Manifest, slot: str, found_concurrency: Sequence[int] = (), card: Card | None = None
) -> dict[str, str]:
    """Return the configuration facts of one target of a run, as a mapping from the name of the fact.

    `found_concurrency`: see `RunSummary`. `card`: the card of the target's endpoint, if known.
    """
    facts = {name: value for name, value in _facts(manifest, slot, found_concurrency) if value}
    found = {} if card is None else {f"endpoint: {title}": said for title, said in card_lines(card)}
    return facts | found


def _concurrency(given: int | None, found: Sequence[int]) -> str:
    told = "found by itself" if given is None else str(given)
    return f"{told}: {', then '.join(map(str, found))}" if found else told


def _facts(manifest: Manifest, slot: str, found_concurrency: Sequence[int]) -> Iterator[tuple[str, str]]:
    target = next(one for one in manifest.targets if one.slot == slot)
    yield "run", manifest.id
    yield (
        "started (UTC)",
        datetime.fromtimestamp(manifest.created_at / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S"),
    )
    yield "kind", manifest.kind
    yield "model", manifest.typed_models.get(slot, target.model)
    yield "model as requested", target.model
    yield "endpoint", host_and_port(target.base_url)
    if target.headers:
        yield "headers", ", ".join(target.headers)
    for helper in manifest.helpers:
        yield f"helper {helper.slot}", f"{helper.model} at {host_and_port(helper.base_url)}"
    for name, value in target.settings.items():
        yield name, _told(value)
    yield "task", f"{manifest.task.name}, version {manifest.task.version}"
    yield "task's fingerprint", manifest.task.fingerprint
    for scorer in manifest.scorers:
        yield f"grader {scorer.name}", scorer.fingerprint
    for name, words in FACT_NAMES.items():
        if manifest.about.get(name) is not None:
            yield words, _told(manifest.about[name])
    yield from _data(manifest.data, manifest.about.get("data"))
    yield "repeats", str(manifest.repeats)
    yield "concurrency", _concurrency(manifest.concurrency, found_concurrency)
    yield "streaming", "yes" if manifest.stream else "no"
    for name, value in msgspec.to_builtins(manifest.limits).items():
        yield f"limit of {name}", _told(value)
    for name, value in manifest.settings.items():
        if name not in SEPARATE_SETTINGS:
            yield f"given: {name.replace('_', ' ')}", _given(value)
    for name, value in {**manifest.versions, **manifest.client}.items():
        yield name, _told(value)
    for name in ("system", "release", "machine", "processors", "memory_bytes"):
        if name in manifest.host:
            yield name.replace("_", " "), _told(manifest.host[name])


def _data(files: Sequence[DataFile], about: Any) -> Iterator[tuple[str, str]]:
    if isinstance(about, Mapping):
        revision = about.get("revision")
        yield "revision of the data", "unknown" if revision is None else str(revision)
        yield "provenance of the data", str(about.get("provenance") or "")
    for file in files:
        beginning = f" from {file.offset:,}" if file.offset else ""
        yield (
            f"data {Path(file.path).name}",
            f"{count_with_noun(file.samples, 'sample')}{beginning}, xxh3 {file.xxh3}",
        )


def facts_of_file(facts: SideFacts) -> dict[str, str]:
    """Return the configuration facts in a result file, as a mapping from the name of the fact."""
    told = {
        "run": facts.run or "",
        "kind": facts.kind,
        "model": facts.model,
        "task": facts.task,
        "data": ", ".join(facts.data_digests or ()),
        "concurrency": "" if facts.concurrency is None else str(facts.concurrency),
        "streaming": "" if facts.is_streamed is None else "yes" if facts.is_streamed else "no",
        **facts.settings,
    }
    return {name: value for name, value in told.items() if value}


def host_and_port(base_url: str) -> str:
    """Return the host and port of an endpoint.

    The address's path and user are left out, as they may be confidential.
    """
    if base_url.startswith("unix://"):
        return "a Unix socket"
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "?"
    return f"{host}:{port}" if port else host


def _told(value: Any) -> str:
    return value if isinstance(value, str) else encode_json(value).decode(errors="replace")


def _given(value: Any) -> str:
    """Return a setting as text. An address is reduced to its host, and a path to its last component."""
    if isinstance(value, list):
        return ", ".join(map(_given, value))
    if isinstance(value, str) and "://" in value:
        return host_and_port(value)
    if isinstance(value, str) and value.startswith(("/", "~")):
        return f"…/{Path(value).name}"
    return _told(value)


def facts_table(runs: Sequence[Mapping[str, str]]) -> list[ConfigurationFact]:
    """Return the facts of all runs side by side, one row per name, in order of first occurrence."""
    names = dict.fromkeys(name for run in runs for name in run)
    return [ConfigurationFact(name, [run.get(name) for run in runs]) for name in names]
