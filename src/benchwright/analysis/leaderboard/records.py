"""What a leaderboard holds, as plain data. Times are in seconds; rows go by their letters."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.comparison.records import Verdict
from benchwright.analysis.joint.fronts import Front
from benchwright.analysis.load.curves import LoadCurve
from benchwright.analysis.report.records import Distribution
from benchwright.records import Record
from benchwright.runs.about import titled
from benchwright.statistic import NoScore, Statistic

Standing = Literal["best", "tied", "behind", "alone"]
"""Of a cell in its column.

best    the highest mean of those that no other is better than, or one as high
tied    no other is better than it, either
behind  some other is better
alone   there is nothing to compare it with
"""


class Price(Record, frozen=True):
    """What a million tokens cost, in any one currency."""

    prompt: float
    completion: float


class Cell(Record, frozen=True):
    """One score of one target of one run, as its summary has it; of a pack's total, `n` are the cells of the run.

    `rank` is 1 + how many others in the column are better by a test (None: there is no other): where the data cannot
    tell, ranks are shared.
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
    standing: Standing = "alone"

    @property
    def no_score(self) -> NoScore | None:
        """Why nothing was scored; None if something was, or a pack has not made its total yet."""
        return self.mean if isinstance(self.mean, NoScore) else None


class BoardColumn(Record, frozen=True):
    """One score of one task; `unit` says that all values lie in [0, 1]. `apart` says why it is not another column.

    Of its `pairs` so many are `paired`; `tests` are their tests, `methods` those of their intervals. `total` says that
    it is a pack's own total, in `scale`.
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


class Pair(Record, frozen=True):
    """Row `b` against row `a` in a column. `p_adjusted` is Holm's over all pairs of the leaderboard.

    `n` samples are on both sides; where it is 0 the two are compared without pairing.
    """

    column: str
    a: str
    b: str
    n: int
    difference: float
    verdict: Verdict
    method: str
    test: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None


class BoardRow(Record, frozen=True):
    """A model with the command-line agent that asked it, if there is one; `cells` are parallel to the columns.

    `detail` says what sets it apart from others of its name. `name` is what people read for it where there is little
    room (see `comparison.names`). `seconds` are the wall times of its `runs` together, tokens those of all `requests`
    that its trials cost, and `cost` is theirs, None where a price or a count of tokens is not known (`uncounted`
    requests came without one). The `side` figures are the part of side requests. So many trials are `solved`, which is
    that they passed and were not reused; None where passing is not defined. `cost_per_solved` is None where that or the
    cost is unknown, or nothing is solved. Of the completion tokens of its other requests `reasoning_tokens` are known
    to be thinking, some of them estimated where `reasoning_estimated`; None where nothing is known. `seconds` is None
    where another program wrote down no time.
    """

    letter: str
    name: str
    model: str
    runs: list[str]
    cells: list[Cell | None]
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
    def tokens(self) -> int | None:
        """Those of prompts and answers together, None where nobody counted any."""
        return self.prompt_tokens + self.completion_tokens or None

    @property
    def title(self) -> str:
        """Its model and agent, and what sets it apart."""
        who = titled(self.model, self.agent)
        return f"{who} ({self.detail})" if self.detail else who

    @property
    def mean_rank(self) -> float | None:
        """The mean of its ranks, None where it has none."""
        ranks = [cell.rank for cell in self.cells if cell is not None and cell.rank is not None]
        return sum(ranks) / len(ranks) if ranks else None


class Leaderboard(Record, frozen=True):
    """All of it; `tests` is the size of Holm's family. `fronts` and `distributions` are by the columns' names."""

    columns: list[BoardColumn]
    rows: list[BoardRow]
    confidence: float = 0.95
    tests: int = 0
    pairs: list[Pair] = []
    fronts: dict[str, list[Front]] = {}
    distributions: dict[str, list[Distribution]] = {}
    load_curves: list[LoadCurve] = []
    notes: list[str] = []
    simulated: bool = False
