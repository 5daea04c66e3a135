"""Reads logs of Inspect (`.eval` archives and `.json` files) as runs.

The format of the logs is defined in inspect_ai/log/_log.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.formats import count_with_noun
from benchwright.interop.archives import Archive
from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignTarget,
    ForeignTrial,
    ReadResults,
    UnreadableResults,
    damaged_trial,
)
from benchwright.interop.inspect_sample import trial_of
from benchwright.interop.untrusted_files import (
    count_or_none,
    decode_json,
    number_or_none,
    object_or_empty,
    objects_in_list,
    parse_time,
    read_json,
    require_object,
    text_or_empty,
)

FORMAT = "inspect"
STATE_BY_STATUS = {"success": "finished", "error": "stopped", "cancelled": "stopped"}
START_MEMBER = "_journal/start.json"
HEADER_MEMBER = "header.json"
SAMPLE_MEMBER_PATTERN = re.compile(r"samples/(?P<id>.*?)(_epoch_(?P<epoch>\d{1,6}))?\.json", re.DOTALL)
"""Regular expression for the name of an archive member that holds one sample at one epoch (repeat)."""
METRICS_THAT_ARE_MEANS = ("accuracy", "mean")
"""Names of Inspect's metrics that are the plain mean of a score."""
SampleReader = Callable[[Mapping[str, Any], str], ForeignTrial]
"""Function that converts a sample to a trial. Its arguments: the sample, and where it is in the log, for error
messages.
"""
MAX_RECOGNITION_BYTES = 4_096
"""Number of bytes at the beginning of a JSON file that are examined to recognise a log."""


def recognises(path: Path) -> bool:
    """Return True if the path is a log of Inspect, judged by the file's name and the beginning of its content."""
    if not path.is_file():
        return False
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        beginning = file.read(MAX_RECOGNITION_BYTES)
    return b'"eval"' in beginning and b'"version"' in beginning and b'"task"' in beginning


def read(path: Path) -> ReadResults:
    """Read a log as a run.

    Raises:
        UnreadableResults: If the file is not a log, or is damaged.
    """
    if path.suffix == ".json":
        log = require_object(read_json(path), path)
        return [_run(path, log, objects_in_list(log.get("samples")), [])]
    with Archive(path) as archive:
        names = set(archive.names)
        name = HEADER_MEMBER if HEADER_MEMBER in names else START_MEMBER
        header = require_object(decode_json(archive.read_member(name), f"{path}, {name}"), f"{path}, {name}")
        again = len(archive.names) - len(names)
    twice = (
        f"{count_with_noun(again, 'member')} of the archive stood there again; the last one "
        "counts, as in any zip archive."
    )
    return [_run(path, header, None, [twice] if again else [])]


def _run(
    path: Path, header: Mapping[str, Any], samples: list[dict[str, Any]] | None, notes: list[str]
) -> ForeignRun:
    about = require_object(header.get("eval"), f"{path}, eval")
    model, task = text_or_empty(about.get("model")), text_or_empty(about.get("task"))
    if not model or not task:
        raise UnreadableResults(f"{path}: the log does not say which model it is about, or which task.")
    config, stats = object_or_empty(about.get("config")), object_or_empty(header.get("stats"))
    results = object_or_empty(header.get("results"))
    status = text_or_empty(header.get("status"))
    repeats = count_or_none(config.get("epochs")) or 1
    dataset = object_or_empty(about.get("dataset"))
    each = count_or_none(dataset.get("samples"))
    only_scorer = text_or_empty(object_or_empty(results.get("scorer")).get("name")) or "scorer"

    def trial(sample: Mapping[str, Any], where: str) -> ForeignTrial:
        return trial_of(sample, model, where, only_scorer)

    return ForeignRun(
        format=FORMAT,
        program=f"Inspect {text_or_empty(object_or_empty(about.get('packages')).get('inspect_ai'))}".strip(),
        path=path,
        task=task,
        version=str(about.get("task_version") or ""),
        targets=[
            ForeignTarget(
                "primary",
                model,
                text_or_empty(about.get("model_base_url")),
                _plain(about.get("model_generate_config")),
            )
        ],
        scores=_scales(about, results),
        trials=_of_archive(path, trial) if samples is None else _of_list(path, samples, trial),
        created_at=parse_time(about.get("created")),
        ended_at=parse_time(stats.get("completed_at")),
        state=STATE_BY_STATUS.get(status, "unfinished"),
        repeats=repeats,
        planned_trials=count_or_none(results.get("total_samples"))
        or (None if each is None else each * repeats),
        missing_data=["time to first token"],
        notes=[*notes, *_notes(header, config, results)],
    )


def _of_archive(path: Path, trial: SampleReader) -> Iterator[ForeignTrial]:
    """Yield the samples in an archive as trials. A damaged sample becomes a failed trial."""
    with Archive(path) as archive:
        for name in dict.fromkeys(archive.names):
            member = SAMPLE_MEMBER_PATTERN.fullmatch(name)
            if member is None:
                continue
            where = f"{path}, {name}"
            try:
                yield trial(require_object(decode_json(archive.read_member(name), where), where), where)
            except UnreadableResults as error:
                repeat = max(0, int(member["epoch"] or 1) - 1)
                yield damaged_trial(member["id"], error, repeat=repeat)


def _of_list(path: Path, samples: list[dict[str, Any]], trial: SampleReader) -> Iterator[ForeignTrial]:
    for place, sample in enumerate(samples):
        yield trial(sample, f"{path}, sample {place}")


def _scales(about: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, ForeignScale]:
    """Return a mapping from each score to its scale, in the log's order.

    Of a scale, only the mean that Inspect reports is known. If a scorer returns a mapping, each of its
    entries is a score named `scorer.part`. A log written before version 0.3.14 has one scorer, with `metrics`
    as a sibling key of `scorer`.
    """
    found: dict[str, ForeignScale] = {}
    scores = objects_in_list(results.get("scores"))
    if old := object_or_empty(results.get("scorer")):
        scores = [{**old, "scorer": old.get("name"), "metrics": results.get("metrics")}]
    whole = count_or_none(results.get("completed_samples")) == count_or_none(results.get("total_samples"))
    for one in scores:
        name, scorer = text_or_empty(one.get("name")), text_or_empty(one.get("scorer"))
        means = [
            number_or_none(object_or_empty(object_or_empty(one.get("metrics")).get(named)).get("value"))
            for named in METRICS_THAT_ARE_MEANS
        ]
        plain = whole and text_or_empty(one.get("reducer")) in ("", "mean")
        scale = ForeignScale(mean=next((mean for mean in means if mean is not None), None) if plain else None)
        found.setdefault(name if name == scorer or not scorer else f"{scorer}.{name}", scale)
    if not found:
        found = {
            text_or_empty(one.get("name")): ForeignScale() for one in objects_in_list(about.get("scorers"))
        }
    return found


def _notes(header: Mapping[str, Any], config: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    reducers = config.get("epochs_reducer")
    if (count_or_none(config.get("epochs")) or 1) > 1:
        named = ", ".join(map(str, reducers)) if isinstance(reducers, list) else "mean"
        yield f"Inspect reduced the epochs of a sample by {named}; here they are repeats, of which the mean is taken."
    unscored = {
        text_or_empty(one.get("name")): found
        for one in objects_in_list(results.get("scores"))
        if (found := count_or_none(one.get("unscored_samples")))
    }
    for name, found in unscored.items():
        yield f"{name}: {found} unscored, as in Inspect left out of the mean."
    if header.get("invalidated") is True:
        yield "The log was marked as invalid."
    if message := text_or_empty(object_or_empty(header.get("error")).get("message")):
        yield f"It ended with an error: {message}"


def _plain(config: Any) -> dict[str, Any]:
    """Return the model's settings whose values are numbers, texts or booleans."""
    return {
        name: value
        for name, value in object_or_empty(config).items()
        if isinstance(value, str | int | float | bool) and name != "extra_headers"
    }
