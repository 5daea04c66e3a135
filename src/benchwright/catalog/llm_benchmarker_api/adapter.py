"""Adapts a user's `BaseBenchmark` to the catalog's interface, so that the engine can run it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.catalog.benchmark import About, Check, Figure, GradedTrial
from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark, BenchmarkSample, SampleResult
from benchwright.catalog.llm_benchmarker_api.dataset_loading import load_dataset
from benchwright.catalog.llm_benchmarker_api.docker_benchmark import DockerBenchmark
from benchwright.data.datasets import Dataset, Source
from benchwright.engine.answers import answer_status, content_text
from benchwright.engine.protocols import Score, Session
from benchwright.errors import ExecutionError, GraderError, UserError
from benchwright.records import Outcome, Sample, Trial
from benchwright.runs.journal import encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import source_fingerprint

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.client import SessionClient
    from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig
    from benchwright.endpoint.reply import Reply

METRIC_NAME = "score"
MAX_LABEL_LENGTH = 100
"""Maximum length in characters of a metadata value that becomes a label."""


def about_of(benchmark: type[BaseBenchmark], origin: str) -> About:
    """Return the metadata of a user's class. Its version is a digest of its source file."""
    return About(
        name=benchmark.name,
        title=benchmark.name,
        description=benchmark.description,
        tier=benchmark.tier,
        items=0,
        licence="",
        protocol="the benchmark's own",
        source=origin,
        dataset=Dataset(benchmark.name, {}),
        version=_version(benchmark),
        metric=METRIC_NAME,
        needs=("containers",) if issubclass(benchmark, DockerBenchmark) else (),
    )


class AdaptedBenchmark:
    """A user's benchmark with the interface of `catalog.benchmark.Benchmark`.

    `config`: the configuration that `multi_turn` gets; None to derive it from the target.
    """

    departures: Sequence[str] = ()

    def __init__(
        self,
        benchmark: BaseBenchmark,
        about: About,
        *,
        max_samples: int | None = None,
        config: BenchmarkConfig | None = None,
    ) -> None:
        from benchwright.catalog.llm_benchmarker_api import client, targets  # not at the top: slow to import

        self.about = about
        self.scorers = (EvaluateScorer(self, about.version),)
        self.benchmark = benchmark
        self._max_samples = max_samples
        self._config = config
        self._client_of = client.SessionClient
        self._config_of = targets.config_of
        self._request_fields = targets.request_fields
        self._samples: dict[str, BenchmarkSample] | None = None

    def samples(self, source: Source) -> Iterator[Sample]:
        """Return the samples from `load_dataset`, which is called once, with the source's root directory.

        Raises:
            UserError: If `load_dataset` fails, or if the ids of its samples are missing or not unique.
        """
        if self._samples is None:
            self.set_samples(load_dataset(self.benchmark, source.root, self._max_samples))
        return self.engine_samples()

    def set_samples(self, loaded: Any) -> None:
        """Store the samples that `load_dataset` returned.

        Raises:
            UserError: If `loaded` is not a non-empty list of samples with unique ids.
        """
        name = self.about.name
        if not isinstance(loaded, list | tuple):
            raise UserError(
                f"load_dataset of {name} must return a list of BenchmarkSample, but returned a "
                f"{type(loaded).__name__}."
            )
        if not loaded:
            raise UserError(f"load_dataset of {name} returned no samples.")
        samples: dict[str, BenchmarkSample] = {}
        for number, sample in enumerate(loaded):
            if not isinstance(sample, BenchmarkSample):
                raise UserError(
                    f"load_dataset of {name} must return BenchmarkSamples, but number {number} is a "
                    f"{type(sample).__name__}."
                )
            if str(sample.id) in samples:
                raise UserError(f"load_dataset of {name} returns two samples with the id {sample.id!r}.")
            samples[str(sample.id)] = sample
        self._samples = samples

    def engine_samples(self) -> Iterator[Sample]:
        """Return the stored samples, converted to the engine's `Sample`."""
        return map(_plain_sample, (self._samples or {}).items())

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AdaptedBenchmark]:
        """Yield this benchmark as its own solver.

        If it uses containers, connect to the engine; disconnect on exit.
        """
        if isinstance(self.benchmark, DockerBenchmark):
            async with self.benchmark.connected():
                yield self
        else:
            yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send one request, or let `multi_turn` hold the conversation. Return the outcome.

        Raises:
            ExecutionError: If `multi_turn` returned no SampleResult.
        """
        sample = self.original_sample(trial.sample)
        config = self._config_for(session)
        client = self._client_of(session, config)
        if self.benchmark.is_multi_turn:
            result = await self.benchmark.multi_turn(sample, client, config)
            if not isinstance(result, SampleResult):
                raise ExecutionError(
                    f"multi_turn of {self.about.name} returned a {type(result).__name__}, not a SampleResult"
                )
            return _conversation(client, result)
        return await self._ask(sample, client, session)

    async def evaluate(self, sample: Sample, outcome: Outcome) -> SampleResult:
        """Return the sample's result.

        If `multi_turn` ran, return what it returned. Otherwise return what `evaluate` returns.

        Raises:
            GraderError: If `evaluate` returned no SampleResult.
        """
        if outcome.native is not None:
            return SampleResult(**outcome.native)
        result = await self.benchmark.evaluate(self.original_sample(sample), outcome.answer)
        if not isinstance(result, SampleResult):
            raise GraderError(
                f"evaluate of {self.about.name} returned a {type(result).__name__}, not a SampleResult"
            )
        return result

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Return no checks, because only the user's class knows the right answers."""
        return iter(())

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return no figures, because only the score is reported."""
        return ()

    def original_sample(self, sample: Sample) -> BenchmarkSample:
        """Return the user's own `BenchmarkSample` for an engine sample."""
        return (self._samples or {})[sample.id]

    async def _ask(self, sample: BenchmarkSample, client: SessionClient, session: Session) -> Outcome:
        prompt = _system_prompt(self.benchmark)
        messages = [{"role": "system", "content": prompt}, *sample.messages] if prompt else sample.messages
        fields = self._request_fields(_request_kwargs(self.benchmark, sample), session.target)
        await client.chat_completion(messages, **fields)
        reply = client.replies[-1]
        status, reason = answer_status(reply)
        return Outcome(status, [*client.sent, reply.message], reply.text, reason)

    def _config_for(self, session: Session) -> BenchmarkConfig:
        if self._config is None:
            self._config = self._config_of(session.target)
        return self._config


class EvaluateScorer:
    """A scorer that calls the user's `evaluate`, on the event loop as llm-benchmarker documents it.

    The value is the result's `score`. If `score` is None, the value is 1 or 0 by the result's `correct`.
    """

    name = METRIC_NAME

    def __init__(self, adapted: AdaptedBenchmark, version: str) -> None:
        self._adapted = adapted
        self.fingerprint = fingerprint("evaluate", adapted.about.name, version)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Score an outcome by `AdaptedBenchmark.evaluate`."""
        result = await self._adapted.evaluate(sample, outcome)
        detail = {**result.details, "correct": bool(result.correct), "expected": result.expected}
        value = float(result.correct) if result.score is None else result.score
        span = None if result.predicted is None else str(result.predicted)
        return Score(value, span=span, detail=detail)


def _conversation(client: SessionClient, result: SampleResult) -> Outcome:
    """Build the outcome of `multi_turn`.

    It contains the result, and the messages of the last request with the response to them.
    """
    reply: Reply | None = client.replies[-1] if client.replies else None
    messages = [] if reply is None else [*client.sent, reply.message]
    answer = "" if reply is None else reply.text
    status, reason = answer_status(reply)
    return Outcome(status, messages, answer, reason, native={**asdict(result), "metrics": None})


def _plain_sample(item: tuple[str, BenchmarkSample]) -> Sample:
    identity, sample = item
    content = {"messages": sample.messages, "metadata": sample.metadata}
    asked = [content_text(one.get("content")) for one in sample.messages if one.get("role") == "user"]
    expected = sample.metadata.get("expected")
    return Sample(
        identity,
        msgspec.json.decode(encode_json(content)),
        labels=_labels(sample.metadata),
        input=asked[-1] if asked else None,
        target=None if expected is None else str(expected),
    )


def _labels(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels for `--where`: short plain values in the metadata. The expected answer is left out."""
    return {
        str(name): str(value)
        for name, value in metadata.items()
        if name != "expected" and isinstance(value, str | int | float) and len(str(value)) <= MAX_LABEL_LENGTH
    }


def _system_prompt(benchmark: BaseBenchmark) -> str | None:
    """Return the class's system prompt, which may be a method or a plain attribute."""
    prompt: Any = benchmark.system_prompt
    said: str | None = prompt() if callable(prompt) else prompt
    return said


def _request_kwargs(benchmark: BaseBenchmark, sample: BenchmarkSample) -> dict[str, Any]:
    method: Any = benchmark.get_request_kwargs
    own: dict[str, Any] = method(sample) if inspect.signature(method).parameters else method()
    return dict(own or {})


def _version(benchmark: type[BaseBenchmark]) -> str:
    """Return a digest of the class's source file, and of those of the user's own modules that this file imports.

    If the class has no source file, return a digest of its name.
    """
    source = source_fingerprint(benchmark)
    if source is None:
        return fingerprint(benchmark.__module__, benchmark.__qualname__)[:16]
    return fingerprint(source)[:16]
