"""Shareable card of a pack's run: for each model, the pack's own totals and categories; for the run, its scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from benchwright import __version__
from benchwright.analysis.pack_runs import load_pack_run, totals_interval
from benchwright.errors import UserError
from benchwright.formats import number_text
from benchwright.packs.results import PackScore
from benchwright.packs.task import format_scenario_count
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import numeric_statistics


class CardCategory(Record, frozen=True):
    """A category of the pack: its score as text.

    `share`: length of its bar as a share of the longest bar, from 0 to 1.
    """

    label: str
    score: str
    share: float


class CardModel(Record, frozen=True):
    """A model on the card: the pack's total ("" if there is none), a remark, and the spread of the totals of
    its repeats.

    `repeats` describes this spread in words. `complete` is False if (scenario, repeat) cells without a result
    make the total incomplete.
    """

    label: str
    total: str
    remark: str
    complete: bool
    repeats: str
    categories: Sequence[CardCategory]


class PackCard(Record, frozen=True):
    """Shareable card of a pack's run: the pack's own totals and categories of each model, and the scope of
    the run.
    """

    pack: str
    scope: str
    host: str
    models: Sequence[CardModel]


def pack_card(manifest: Manifest, table: RunTable) -> PackCard:
    """Return the card of a pack's run. The table must be read with `effort=True`.

    Raises:
        UserError: If it is not a run of a pack, or the pack never scored it.
        JournalError: If the run cannot be read.
    """
    if manifest.kind != "pack":
        raise UserError(f"{manifest.id} is not a run of a pack.")
    kept = load_pack_run(manifest, table)
    if not kept.scores:
        raise UserError(f"{manifest.id} has no scores yet: the pack scores a run when it ends.")
    about = manifest.about
    scope = format_scenario_count(len(kept.scenarios), about.get("listed", 0))
    full = _full(kept.scores)
    return PackCard(
        f"{about.get('name', manifest.name)} {about.get('version', '')}".rstrip(),
        scope,
        f"benchwright {__version__}",
        [_model(kept.models[slot].label, score, full) for slot, score in kept.scores.items()],
    )


def totals_mean_text(totals: Sequence[float]) -> str:
    """Return the mean of a pack's totals over repeats with its 95 % interval by Student's t, as text.

    If all totals are equal, no interval is stated: the range of possible totals is unknown, so the variation
    cannot be estimated. Return an empty text for fewer than two repeats.
    """
    if len(totals) < 2:
        return ""
    interval = totals_interval(totals)
    if interval is None:
        return f"{totals[0]:.4g} in each of {len(totals)} repeats"
    return f"{fmean(totals):.4g} [{interval.low:.4g}, {interval.high:.4g}] over {len(totals)} repeats"


def _model(label: str, score: PackScore, full: float) -> CardModel:
    categories = score.score.categories if score.score is not None and score.is_complete else []
    return CardModel(
        label,
        score.total,
        score.remark,
        score.is_complete,
        totals_mean_text(score.totals),
        [
            CardCategory(
                one.label,
                f"{number_text(one.score, 'g')} {one.unit or ''}".rstrip()
                if one.score is not None
                else number_text(None),
                0.0 if one.score is None else min(1.0, max(0.0, one.score / full)),
            )
            for one in categories
        ],
    )


def _full(scores: Mapping[str, PackScore]) -> float:
    """Return the score at which a category's bar has its full length.

    It is 1 if no score exceeds 1, and 100 if no score exceeds 100. Otherwise it is the highest score.
    """
    values = (one.score for score in scores.values() if score.score for one in score.score.categories)
    highest = max(numeric_statistics(values), default=0.0)
    return 1.0 if highest <= 1 else 100.0 if highest <= 100 else highest
