"""Assembly of tau2-bench from options, samples, solver and scorer; and its figures (pass^k)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.judge_departures import judge_departures
from benchwright.catalog.tau2_bench.about import (
    AGENT_MODES,
    DEFAULT_DOMAINS,
    DOMAINS,
    EMBEDDING_MODELS,
    POLICY_VERSIONS,
    RETRIEVAL_METHODS,
    SOLO_DOMAINS,
    SPLITS,
)
from benchwright.catalog.tau2_bench.checks import checks
from benchwright.catalog.tau2_bench.environment import DomainFiles, EnvironmentStarter
from benchwright.catalog.tau2_bench.grading import OFFICIAL_JUDGE, JudgedRewardScorer, RewardScorer
from benchwright.catalog.tau2_bench.retrieval import check_shell
from benchwright.catalog.tau2_bench.rows import PromptOptions, samples
from benchwright.catalog.tau2_bench.solver import Tau2Solver
from benchwright.catalog.tau_bench.benchmark import OWN_USER_DEPARTURE, pass_hat_k_figures
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.errors import UserError
from benchwright.records import Sample
from benchwright.suggestions import did_you_mean

JUDGED_DOMAINS = ("retail", "banking_knowledge")
"""The domains in which a judge grades one of the reward's parts for some tasks."""

NO_JUDGE_DEPARTURE = "no judge (--judge-model …): the model judges itself in 40 tasks of retail"


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark with these options.

    Raises:
        UserError: If an option has a value that is not one of its choices.
    """
    return Tau2Bench(about, options)


class Tau2Bench:
    """The tau2-bench benchmark; see `benchmark.Benchmark`.

    The databases and the code of the domains are read from the same source as the tasks.
    """

    def __init__(self, about: About, options: Options) -> None:
        self._settings = settings = read_prompt_options(options)
        self.about = _without_user(about, options) if settings.solo else about
        self._domains = parse_domains(options.text("domain"), settings.solo)
        self._files = DomainFiles()
        self._user = options.text("user_model") if "user" in options.roles else "the model itself"
        self.departures = tuple(self._departures(options))
        self.scorers: Sequence[Scorer] = (self._scorer(options),)

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield one sample per task of the chosen domains and split."""
        return samples(source, self._domains, self._settings, self._files)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver, which starts a sandbox for each conversation.

        Raises:
            UserError: If the model gets a shell, and no sandbox on this machine can keep it from reading the
                user's files.
        """
        if "banking_knowledge" in self._domains:
            check_shell(self._settings.retrieval)
        yield Tau2Solver(EnvironmentStarter(self._files))

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield scripted conversations that check the grader: a right conversation, and others that must fail."""
        return checks(sample)

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return pass^k over all tasks and per domain. A note names the model of the simulated user."""
        different = f"; not comparable: {'; '.join(self.departures)}" if self.departures else ""
        user = "no user" if self._settings.solo else f"user played by {self._user}"
        return pass_hat_k_figures(graded, f"{user}{different}")

    def _scorer(self, options: Options) -> Scorer:
        if not set(JUDGED_DOMAINS) & set(self._domains):
            return RewardScorer(self.about.metric)
        separate = "judge" in options.roles
        judge = options.text("judge_model") if separate else ""
        return JudgedRewardScorer(self.about.metric, judge, "judge" if separate else None)

    def _departures(self, options: Options) -> Iterator[str]:
        settings = self._settings
        if settings.solo:
            yield "the agent works from a ticket, without a user (solo)"
        elif "user" not in options.roles:
            yield OWN_USER_DEPARTURE
        if "retail" in self._domains:
            yield from judge_departures(options, OFFICIAL_JUDGE, NO_JUDGE_DEPARTURE)
        if settings.split != SPLITS[0]:
            yield f"the tasks of {settings.split} in place of {SPLITS[0]}"
        if "telecom" in self._domains and settings.policy != POLICY_VERSIONS[0]:
            yield f"telecom's policy is {settings.policy} in place of {POLICY_VERSIONS[0]}"
        if "banking_knowledge" in self._domains:
            yield from _retrieval_departures(options, settings.retrieval)


def read_prompt_options(options: Options) -> PromptOptions:
    """Return those options of the run that change the content of its samples.

    Raises:
        UserError: If an option has a value that is not one of its choices.
    """
    given = options.text("retrieval")
    if "_reranker" in given:
        raise UserError(
            f"retrieval={given} has documents ranked again by a model, which is not there; "
            f"--option retrieval={given.replace('_reranker', '')} is the same without it."
        )
    return PromptOptions(
        options.choice("split", SPLITS),
        options.choice("retrieval", RETRIEVAL_METHODS),
        options.choice("mode", AGENT_MODES) == "solo",
        options.choice("policy", POLICY_VERSIONS),
    )


def parse_domains(given: str, solo: bool = False) -> tuple[str, ...]:
    """Return the domains in a comma-separated list, in the order of `DOMAINS`.

    An empty list selects the domains of the published mean. With `solo`, it selects telecom.

    Raises:
        UserError: If a domain is unknown, or if `solo` is True and the domain has no tasks for an agent
            without a user.
    """
    usual = SOLO_DOMAINS[:1] if solo else DEFAULT_DOMAINS
    named = [name.strip() for name in given.split(",") if name.strip()] or list(usual)
    for name in named:
        if name not in DOMAINS:
            known = ", ".join(DOMAINS)
            raise UserError(
                f"tau2_bench has no domain {name!r}.{did_you_mean(name, DOMAINS)} Choose from: {known}."
            )
        if solo and name not in SOLO_DOMAINS:
            raise UserError(
                f"mode=solo is for domains whose tasks have tickets ({', '.join(SOLO_DOMAINS)}), not for {name}."
            )
    return tuple(domain for domain in DOMAINS if domain in named)


def _without_user(about: About, options: Options) -> About:
    """Return the metadata without the role of the simulated user, for solo runs.

    Raises:
        UserError: If a model was named for the simulated user.
    """
    if "user" in options.roles:
        raise UserError("mode=solo has no user to play: leave out --option user_model.")
    return msgspec.structs.replace(about, roles=tuple(role for role in about.roles if role != "user"))


def _retrieval_departures(options: Options, retrieval: str) -> Iterator[str]:
    """Yield descriptions of how document retrieval differs from the retrieval in published runs.

    Raises:
        UserError: If the retrieval method needs an embedding model and none was named.
    """
    if retrieval != RETRIEVAL_METHODS[0]:
        yield f"documents are found by {retrieval} in place of {RETRIEVAL_METHODS[0]}"
    official = EMBEDDING_MODELS.get(retrieval)
    if official is None:
        return
    if "embedding" not in options.roles:
        usual = "the authors' default, " if retrieval == RETRIEVAL_METHODS[0] else ""
        raise UserError(
            f"retrieval={retrieval} ({usual}for banking_knowledge) needs a model for embeddings: --option "
            f"embedding_model={official}, with embedding_base_url= and embedding_api_key_env=. Without one: "
            "--option retrieval=terminal_use, or bm25."
        )
    model = options.text("embedding_model")
    if model.rpartition("/")[2].lower() != official:
        yield f"documents are embedded by {model}; published figures use {official}"
