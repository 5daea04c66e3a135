"""The contents of a leaderboard as plain data. Times are in seconds; rows are identified by their letters."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.comparison.records import ComparisonVerdict
from benchwright.analysis.load.curves import LoadCurve
from benchwright.analysis.quality_and_speed.pareto_fronts import ParetoFront
from benchwright.analysis.report.records import DistributionChart
from benchwright.records import Record
from benchwright.runs.manifest_facts import model_with_agent
from benchwright.statistic import NoScore, Statistic

CellStanding = Literal["best", "tied", "behind", "alone"]
"""Standing of a cell in its column. One cell is better than another if a test shows it.

best    no other cell is better than this one, and of all such cells it has the highest mean
tied    no other cell is better than this one, but its mean is not the highest
behind  some other cell is better than this one
alone   there is no other cell to compare this one with
"""


class TokenPrice(Record, frozen=True):
    """Prices of a million prompt tokens and of a million completion tokens, in any currency."""

    prompt: float
    completion: float


class LeaderboardCell(Record, frozen=True):
    """One score of one target of one run, as in the run's summary.

    For a pack's total, `n` is the number of (scenario, repeat) cells.

    `rank`: 1 + the number of entrants in the column that are better by a test; None if there is no other
    entrant. Entrants between which the data show no difference share a rank.
    """

    run: str
    slot: str
    n: int
    n_scored: int
    failed: int
    mean: Statistic = None
    low: Statistic = None
    high: Statistic = None
    method: str = "none"
    rank: int | None = None
    standing: CellStanding = "alone"

    @property
    def no_score(self) -> NoScore | None:
        """The reason why nothing was scored.

        None if something was scored, or if a pack has not computed its total yet.
        """
        return self.mean if isinstance(self.mean, NoScore) else None


class BoardColumn(Record, frozen=True):
    """One score of one task. `unit`: True if all values are in [0, 1].

    `apart`: the reason why this column is separate from another column of the same task and score. `pairs`:
    number of compared pairs of rows. `paired`: number of these pairs that were tested on common samples.
    `tests`: names of the tests of these pairs. `methods`: names of the methods of the intervals. `total`:
    True for a pack's own total, in `scale`. `lower_is_better`: True for some scores of imported runs.
    """

    name: str
    task: str
    score: str
    unit: bool = True
    apart: str = ""
    pairs: int = 0
    paired: int = 0
    tests: list[str] = []
    methods: list[str] = []
    total: bool = False
    scale: str = ""
    lower_is_better: bool = False


class RowComparison(Record, frozen=True):
    """Comparison of row `b` with row `a` in a column.

    `p_adjusted`: the p-value adjusted by Holm over all pairs of the leaderboard.

    `n`: number of samples that both rows have; 0 if the two are compared without pairing.
    """

    column: str
    a: str
    b: str
    n: int
    difference: float
    verdict: ComparisonVerdict
    method: str
    test: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None


class BoardRow(Record, frozen=True):
    """A model, with the command-line agent that asked the model, if any.

    `cells` are in the order of the columns. `detail`: text that distinguishes the row from others of the same
    model. `name`: short name for tables and plots (see `comparison.names`). `seconds`: total wall time of its
    `runs`; None if another program recorded no time. Tokens and `cost` cover all `requests` of its trials.
    `cost` is None if a price or a token count is unknown. `uncounted`: number of requests without token counts.
    `side_*`: the share of these totals that is due to side requests of an agent (titles, summaries). `solved`:
    number of trials that passed and were not reused; None if passing is not defined. `cost_per_solved`: None if
    `solved` or the cost is unknown, or nothing is solved. `reasoning_tokens`: known thinking tokens among the
    completion tokens, without side requests; None if nothing is known. `reasoning_estimated`: True if some of
    them are estimated.
    """

    letter: str
    name: str
    model: str
    runs: list[str]
    cells: list[LeaderboardCell | None]
    agent: str = ""
    detail: str = ""
    trials: int = 0
    failed: int = 0
    seconds: float | None = None
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    side_requests: int = 0
    side_prompt_tokens: int = 0
    side_completion_tokens: int = 0
    solved: int | None = None
    reasoning_tokens: int | None = None
    reasoning_estimated: bool = False
    cost: float | None = None
    side_cost: float | None = None
    cost_per_solved: float | None = None

    @property
    def total_tokens(self) -> int | None:
        """Total tokens of prompts and answers. None if no request has token counts."""
        return self.prompt_tokens + self.completion_tokens or None

    @property
    def title(self) -> str:
        """The row's model and agent, and the detail that distinguishes the row."""
        who = model_with_agent(self.model, self.agent)
        return f"{who} ({self.detail})" if self.detail else who

    @property
    def mean_rank(self) -> float | None:
        """Mean of the row's ranks. None if the row has no rank."""
        ranks = [cell.rank for cell in self.cells if cell is not None and cell.rank is not None]
        return sum(ranks) / len(ranks) if ranks else None


class Leaderboard(Record, frozen=True):
    """A complete leaderboard.

    `tests`: number of tests for which Holm's method corrects. `fronts` and `distributions` are mappings from
    the name of a column.
    """

    columns: list[BoardColumn]
    rows: list[BoardRow]
    confidence: float = 0.95
    tests: int = 0
    pairs: list[RowComparison] = []
    fronts: dict[str, list[ParetoFront]] = {}
    distributions: dict[str, list[DistributionChart]] = {}
    load_curves: list[LoadCurve] = []
    notes: list[str] = []
    simulated: bool = False
