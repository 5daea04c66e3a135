"""`run`: prepares benchmarks of the catalog, each as a separate run with a documented result file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.app.access import role_access, role_header_variable_names
from benchwright.app.benchmark_agents import agent_facts, trial_limits, with_agent
from benchwright.app.benchmark_results import BenchmarkReport, report_benchmark
from benchwright.app.launch import discard_message, make_worker_spec, shard_parts_of_request
from benchwright.app.models import ModelsUnderTest, find_models, key_variable_names, short_name_of_models
from benchwright.app.needs import needs_of_benchmark, needs_of_requests
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.prometheus import MetricsScrape
from benchwright.app.run_lookup.unfinished_runs import UnfinishedRunLookup
from benchwright.app.until.question import check_until_options
from benchwright.catalog import plugins
from benchwright.catalog.benchmark import SEAL_VERSION, About, Benchmark, Options, StatefulBenchmark
from benchwright.catalog.registry import BENCHMARKS, ROLE_OPTIONS, find_about, make_benchmark
from benchwright.catalog.selection import Selection, read_ids
from benchwright.catalog.task import BenchmarkTask
from benchwright.config import (
    BenchmarkSelection,
    BenchmarkSettings,
    CatalogSettings,
    ContainerSettings,
    EndpointSettings,
    SamplingSettings,
)
from benchwright.data.datasets import Folder, HarborDataset, Source, find_dataset
from benchwright.endpoint.access import Access
from benchwright.endpoint.default_server import default_server
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.engine.plan import Plan
from benchwright.engine.shards import ShardParts
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.records import Sample, Target
from benchwright.runs.journal import read_body
from benchwright.runs.manifest import DataFile
from benchwright.runs.manifest_facts import OFFICIAL, SEALED
from benchwright.runs.table import RunTable
from benchwright.text import Say, make_safe

if TYPE_CHECKING:
    from benchwright.app.run_images import RunImages
    from benchwright.catalog.containers.images import ImagePolicy

"""Default address of the model's endpoint."""

DEFAULT_MAX_TOKENS = 2048
SHUFFLE_SEED = 42


def prepare_benchmark(name: str, settings: BenchmarkSettings, say: Say) -> PreparedRun[list[BenchmarkReport]]:
    """Find a benchmark and its data, check both, and return the prepared run.

    Raises:
        UserError: If a name, an option or a row is invalid. The message names it and says what to do.
    """
    if not settings.endpoint.model:
        raise UserError("Missing option '--model': give the name of the model as the server lists it.")
    endpoint, catalog, containers = settings.endpoint, settings.catalog, settings.containers
    check_until_options(settings.deciding, len(endpoint.models_under_test))
    if len(endpoint.models_under_test) > 1 and settings.monitoring.scrape_prometheus:
        raise UserError("--scrape-prometheus is for one model: run it once for each.")
    selection = _selection(settings.selection, settings.sampling.seed)
    benchmark, source = _find(name, catalog, containers, selection, models=len(endpoint.models_under_test))
    may_order = settings.deciding.until is None and not settings.execution.uses_several_processes
    images = _images(benchmark, containers.keep_images, may_order=may_order)
    benchmark = benchmark if images is None else images.benchmark
    metadata = benchmark.about
    _roles(metadata, catalog.option)
    options = {
        **_conversation_options(metadata, catalog.option, sealed=containers.seal),
        **agent_facts(benchmark),
    }
    task = BenchmarkTask(benchmark, source, selection, options)
    body = _body(metadata, settings.sampling)
    models = find_models(endpoint, settings.sampling, settings.thinking, body, say, default_server())
    primary = models.targets[0]
    remembering = benchmark if isinstance(benchmark, StatefulBenchmark) and benchmark.is_stateful else None
    if remembering is not None and settings.execution.uses_several_processes:
        raise UserError(
            f"{metadata.name}: questions begin with what other trials have left in the memory, so all of them run in "
            "one process: remove --workers and --executor, or choose other categories."
        )
    helpers = list(_helpers(metadata, catalog.option, endpoint, models, say))
    samples = task.size()
    request = RunRequest(
        kind="benchmark",
        name=f"{metadata.full_name}-{short_name_of_models([entry.title for entry in endpoint.models_under_test])}",
        plan=Plan(
            task=task,
            sample_count=samples,
            targets=models.targets,
            helper_targets=[target for target, _ in helpers],
            repeats=settings.selection.n,
            limits=trial_limits(benchmark, settings.limits.trial_tokens, settings.limits.trial_seconds),
            reorder_trials=None if images is None or not may_order else images.order_by_image,
        ),
        settings=settings,
        data_files=(DataFile(path=str(source.root), xxh3=source.digest, samples=samples),),
        access={**models.access, **{target.slot: access for target, access in helpers}},
        typed_models=models.display_names,
        sample_selection=msgspec.to_builtins(selection),
        manifest_facts={
            **_about(benchmark, source, settings, models),
            **agent_facts(benchmark),
            **models.manifest_facts,
        },
        worker_spec=make_worker_spec(
            benchmark_shard_parts,
            name,
            settings,
            keys=_named_variables(catalog.option) | key_variable_names(endpoint),
        ),
        find_needs=lambda: {
            **needs_of_benchmark(metadata, containers.agent),
            **needs_of_requests(settings.limits, settings.sampling, endpoint.models),
        },
    )
    lookup = UnfinishedRunLookup(
        request.fingerprint,
        fresh=settings.resuming.fresh,
        finished=settings.resuming.retry_failed,
        run=settings.resuming.run,
        suite=settings.label.suite,
    )
    scrape = (
        MetricsScrape(primary.base_url, settings.monitoring.prometheus_url, say, models.access[primary.slot])
        if settings.monitoring.scrape_prometheus
        else None
    )

    def report(launched: LaunchedRun) -> list[BenchmarkReport]:
        more = {} if scrape is None else scrape.found
        return report_benchmark(benchmark, settings.results.output_dir, launched, more)

    @asynccontextmanager
    async def during(table: RunTable) -> AsyncIterator[None]:
        if images is not None:
            from benchwright.app.network_preflight import warn_without_network

            await images.decide_kept_images(lambda: _not_begun(task, table), say)
            await warn_without_network(benchmark, _not_begun(task, table), say)
        if remembering is not None:
            ended = (trial.record for trial in table.read_trials(range(len(table))))
            remembering.restore_state(ended, partial(read_body, table.directory))
        async with scrape or nullcontext():
            yield

    return PreparedRun(
        request,
        lookup,
        report,
        description_facts={
            "benchmark": metadata.full_name,
            "data": request.manifest_facts["data"],
            "departures": request.manifest_facts["departures"],
        },
        run_context=during,
        describe_activities=(lambda: ()) if images is None else images.keeping.pulls.progress_lines,
    )


def _not_begun(task: BenchmarkTask, table: RunTable) -> Iterator[Sample]:
    """Yield the samples for which the table has no trial yet."""
    return (sample for sample in task.samples() if not table.sample.rows_of(sample.id))


def _images(benchmark: Benchmark, keep: ImagePolicy | None, *, may_order: bool) -> RunImages | None:
    """Return the container images of a benchmark's run. None if it does not use containers.

    Raises:
        UserError: If images are to be removed after their last trial, but trials cannot be ordered by image.
    """
    if "containers" not in benchmark.about.needs:
        return None
    from benchwright.app.run_images import make_run_images

    if keep in ("none", "base") and not may_order:
        raise UserError(
            f"--keep-images {keep} orders trials by their images, in one process: it does not go with "
            "--until, --workers and --executor ray."
        )
    return make_run_images(benchmark, keep, may_order=may_order)


def benchmark_shard_parts(concurrency: int, name: str, settings: BenchmarkSettings) -> ShardParts:
    """Prepare the run again in a worker process. Return the parts that the worker needs: task, clients and limits."""
    return shard_parts_of_request(prepare_benchmark(name, settings, discard_message).request, concurrency)


def _named_variables(given: Mapping[str, str]) -> set[str | None]:
    """Return the environment variables with keys and headers of a judge or other role, named in the options `given`."""
    keys = {value for option, value in given.items() if option.endswith("_api_key_env")}
    return keys | role_header_variable_names(given)


def _find(
    name: str, catalog: CatalogSettings, containers: ContainerSettings, selection: Selection, *, models: int
) -> tuple[Benchmark, Source]:
    """Return a benchmark of the catalog or of a plugin, and the benchmark's data. `models`: the number of models."""
    option, data_dir = catalog.option, catalog.data_dir
    path = option.get("path")
    if name.partition(":")[0] not in BENCHMARKS:
        plugin = plugins.find_plugin(name, catalog.plugin)
        if plugin is not None:
            roles = frozenset(_roles(plugin.about, option))
            options = Options(option, roles, data_dir, containers.seal)
            first_ones = not (selection.where or selection.ids) and selection.shuffle is None
            made = plugin.build_benchmark(options, selection.limit if first_ones else None)
            return with_agent(made, containers.agent, option), plugin.source(data_dir, path)
    metadata = find_about(name)
    roles = frozenset(_roles(metadata, option))
    options = Options(option, roles, data_dir, containers.seal)
    made = with_agent(make_benchmark(metadata, options), containers.agent, option)
    if models > 1 and "user" in made.about.roles and "user_model" not in option:
        raise UserError(
            f"{metadata.name} with several models needs --option user_model=MODEL: without it, each model would play "
            "its own user."
        )
    return made, find_dataset(metadata.dataset, data_dir, path=path)


def _roles(metadata: About, options: Mapping[str, str]) -> list[str]:
    """Return the roles besides the model (judge, simulated user) for which the options name a model.

    Raises:
        UserError: If a role has an address, a key or headers, but no model.
    """
    given = [role for role in metadata.roles if f"{role}_model" in options]
    for role in metadata.roles:
        for name in (f"{role}_{suffix}" for suffix in ROLE_OPTIONS if suffix != "model"):
            if name in options and role not in given:
                raise UserError(
                    f"{name} does nothing without {role}_model: name the model that is the {role}, too."
                )
    return given


def _conversation_options(metadata: About, given: Mapping[str, str], *, sealed: bool) -> dict[str, str]:
    """Return the benchmark's options that influence conversations, as {name: value}.

    Left out are the options for data locations and for the number of containers. If containers are sealed, the version
    of the seal is added, so that no run mixes sealed and official trials.
    """
    shaping = metadata.options.keys() - {"containers", "repositories", "run_scripts"}
    seal = {"seal": SEAL_VERSION} if metadata.can_be_sealed and sealed else {}
    return {name: value for name, value in given.items() if name in shaping} | seal


def _body(metadata: About, sampling: SamplingSettings) -> dict[str, Any]:
    """Return the body fields of every request. The user's values replace those of the benchmark's protocol."""
    temperature = metadata.temperature if sampling.temperature is None else sampling.temperature
    return {
        "temperature": temperature,
        "max_tokens": _max_tokens(metadata, sampling),
        "seed": sampling.seed,
        **metadata.params,
        **sampling.param,
    }


def _max_tokens(metadata: About, sampling: SamplingSettings) -> int:
    given, own = sampling.max_tokens, metadata.max_tokens
    if metadata.smaller_max_tokens and own is not None:
        return min(own, given or DEFAULT_MAX_TOKENS)
    return given or own or DEFAULT_MAX_TOKENS


def _selection(given: BenchmarkSelection, seed: int | None) -> Selection:
    ids = () if given.ids is None else read_ids(given.ids)
    shuffle = None if not given.shuffle else SHUFFLE_SEED if seed is None else seed
    return Selection(given.max_samples, given.where, shuffle, ids)


def _helpers(
    metadata: About, given: Mapping[str, str], endpoint: EndpointSettings, models: ModelsUnderTest, say: Say
) -> Iterator[tuple[Target, Access]]:
    """Yield the targets of roles besides the model (judge, simulated user), each with its access.

    A simulated user without its own model is played by the model under test. These targets have no settings:
    the solver or scorer that calls them sends what the protocol prescribes. The key and headers of the model
    under test are sent to no other address.
    """
    primary = models.targets[0]
    for role in metadata.roles:
        model = given.get(f"{role}_model")
        if model is None and role != "user":
            continue
        base_url = given.get(f"{role}_base_url") or primary.base_url
        access = role_access(endpoint, given, role)
        if base_url.rstrip("/") == primary.base_url:
            access = access.with_defaults(models.access[primary.slot])
        if model is None:
            target = Target(role, primary.model, base_url, headers=access.plain_headers)
        else:
            target = find_target(model, base_url, role, access=access)
        found = find_access(access, target, say)
        check_target(target, found)
        yield target, found


def _about(
    benchmark: Benchmark, source: Source, settings: BenchmarkSettings, models: ModelsUnderTest
) -> dict[str, Any]:
    metadata = benchmark.about
    return {
        "benchmark": metadata.name,
        "variant": metadata.variant,
        "title": metadata.title,
        "metric": metadata.metric,
        "protocol": metadata.protocol,
        "protocol_version": metadata.version,
        "source": metadata.source,
        "licence": metadata.licence,
        "breakdowns": list(metadata.breakdowns),
        "departures": list(find_departures(benchmark, source, settings.sampling, settings.selection, models)),
        "data": source.describe(),
        **_predicted(benchmark, settings.catalog.option.get("predictions")),
        **_sandbox(metadata),
        **_seal(metadata, sealed=settings.containers.seal),
    }


def _predicted(benchmark: Benchmark, file: str | None) -> dict[str, str]:
    """Return the facts about existing answers that are graded without a model: their file and, if known, their program.

    Empty if there is no such file.
    """
    program = getattr(benchmark, "program", "")
    found = {"predictions": file, "program": program}
    return {name: value for name, value in found.items() if value}


def _sandbox(metadata: About) -> dict[str, str]:
    """Return the facts on how code written by models is isolated. Empty if the benchmark runs no such code."""
    if "sandbox" not in metadata.needs:
        return {}
    from benchwright.sandbox import choose_isolation_method

    return {"sandbox": choose_isolation_method().description}


def _seal(metadata: About, *, sealed: bool) -> dict[str, str]:
    """Return the facts on whether agents are sealed: kept away from answers and tests. Empty if they cannot be sealed.

    If they are sealed, the facts include the version of the seal. If not, they follow the official protocol.
    """
    if not metadata.can_be_sealed:
        return {}
    return {"seal": SEALED, "seal_version": SEAL_VERSION} if sealed else {"seal": OFFICIAL}


def find_departures(
    benchmark: Benchmark,
    source: Source,
    sampling: SamplingSettings,
    selection: BenchmarkSelection,
    models: ModelsUnderTest,
) -> Iterator[str]:
    """Yield the differences of a run from the benchmark's published protocol.

    If there are any, scores are not comparable to published ones.
    """
    metadata = benchmark.about
    yield from metadata.departures
    yield from benchmark.departures
    if not source.is_pinned and source.provenance != plugins.PLUGIN_PROVENANCE:
        is_own = isinstance(metadata.dataset.origin, Folder | None)
        fetched = metadata.full_name if isinstance(metadata.dataset.origin, HarborDataset) else metadata.name
        pins = "" if is_own else f" (`benchwright fetch {fetched}` pins it)"
        yield f"the data in {source.root} is of no known revision{pins}"
    if sampling.temperature is not None and sampling.temperature != metadata.temperature:
        yield f"temperature {sampling.temperature:g} instead of {metadata.temperature:g}"
    if selection.n < metadata.repeats:
        yield (
            f"{count_with_noun(selection.n, 'repeat')} of each sample, where published scores are "
            f"means of {metadata.repeats} (--n {metadata.repeats})"
        )
    own = metadata.max_tokens
    if own is not None and _max_tokens(metadata, sampling) != own:
        yield f"at most {_max_tokens(metadata, sampling):,} tokens per answer instead of {own:,}"
    if selection.where or selection.ids is not None or selection.max_samples is not None:
        yield "only some of the samples"
    for slot, recommended in models.recommended_settings.items():
        yield f"{make_safe(models.display_names[slot])} is sent what is recommended for {recommended.description}"
    for slot, sent in models.sent_thinking.items():
        yield f"{make_safe(models.display_names[slot])} is sent fields for thinking: {', '.join(sorted(sent.fields))}"
    if sampling.param:
        yield f"further request fields: {', '.join(sorted(sampling.param))}"
