"""The report's charts: scales with round ticks, drawings that are the same every time and well-formed."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.analysis.load.curves import LoadCurve, LoadPoint
from benchwright.analysis.load.figure_records import FigureEstimate, TimeDistribution
from benchwright.analysis.load.records import LoadLevel
from benchwright.analysis.quality_and_speed.pareto_fronts import FrontCandidate, ResourcesPerTrial, fronts
from benchwright.analysis.report.records import (
    ChartMean,
    ChartRow,
    DistributionChart,
    DistributionCurve,
    LatencyBin,
    Quantile,
    ScoreByLatency,
    TimedTrial,
    TrialSegment,
)
from benchwright.reports.html.charts.fronts import front_chart
from benchwright.reports.html.charts.loads import load_curves_chart
from benchwright.reports.html.charts.means import means_chart, stacked_bar
from benchwright.reports.html.charts.scales import Scale, score_scale, time_label, time_scale
from benchwright.reports.html.charts.svg import DRAWING_WIDTH
from benchwright.reports.html.charts.time_charts import (
    distribution_chart,
    score_by_latency_chart,
    waterfall_chart,
)
from benchwright.statistic import NoScore

SECONDS = st.floats(1e-6, 1e5)
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>\u202e\x00"


def parsed(drawing: str) -> ElementTree.Element:
    """The drawing read as XML, with the namespace that HTML gives it."""
    return ElementTree.fromstring(
        str(drawing).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    )


def numbers(root: ElementTree.Element, name: str, attribute: str) -> list[float]:
    return [float(one.attrib[attribute]) for one in root.iter(SVG + name)]


class TestScales:
    @given(st.lists(SECONDS, min_size=1))
    def test_a_time_lies_within_its_axis(self, values: list[float]) -> None:
        scale = time_scale(values, 50, 700)
        assert all(50 <= scale.coordinate(value) <= 700 for value in values)

    @given(st.lists(SECONDS, min_size=1))
    def test_ticks_lie_within_the_axis_and_are_few(self, values: list[float]) -> None:
        scale = time_scale(values, 0, 1)
        ticks = scale.ticks()
        assert 1 <= len(ticks) <= 14
        assert all(scale.low <= tick <= scale.high * (1 + 1e-9) for tick in ticks)

    @given(st.floats(0, 1), st.floats(0, 1))
    def test_the_order_is_kept(self, one: float, other: float) -> None:
        scale = Scale(0, 1, 0, 100)
        assert (scale.coordinate(one) <= scale.coordinate(other)) == (one <= other) or scale.coordinate(
            one
        ) == pytest.approx(scale.coordinate(other))

    def test_times_of_several_magnitudes_stand_on_a_logarithmic_axis(self) -> None:
        assert time_scale([0.01, 1.0], 0, 1).is_logarithmic
        assert not time_scale([0.5, 1.0], 0, 1).is_logarithmic

    def test_scores_between_0_and_1_have_all_of_that_axis(self) -> None:
        assert score_scale([0.4, 0.6], 0, 1)[:2] == (0.0, 1.0)
        assert score_scale([62.5, 100.0], 0, 1).high > 100

    @pytest.mark.parametrize(
        ("seconds", "label"), [(0, "0"), (0.05, "50 ms"), (2, "2 s"), (300, "5 min"), (7200, "2 h")]
    )
    def test_times_are_told_in_the_unit_that_fits(self, seconds: float, label: str) -> None:
        assert time_label(seconds) == label


class TestDrawings:
    def test_a_bar_is_as_long_as_its_mean_and_the_whisker_as_its_interval(self) -> None:
        rows = [
            ChartRow("all", [ChartMean("A", 10, 10, 0.5, 0.25, 0.75)]),
            ChartRow("none", [ChartMean("A", 0, 3, NoScore(3))]),
        ]
        root = parsed(means_chart("Scores", "exact", rows, {"A": 0}))
        (bar,) = root.iter(SVG + "rect")
        whisker = next(one for one in root.iter(SVG + "line") if one.attrib["class"] == "whisker")
        start, width = float(bar.attrib["x"]), float(bar.attrib["width"])
        assert float(whisker.attrib["x1"]) == pytest.approx(start + width / 2, abs=0.02)
        assert float(whisker.attrib["x2"]) == pytest.approx(start + width * 1.5, abs=0.02)
        assert "no score" in [one.text for one in root.iter(SVG + "text")]

    def test_every_drawing_tells_in_words_what_it_shows(self) -> None:
        for drawing in drawings("sample"):
            root = parsed(drawing)
            assert root.attrib["role"] == "img"
            assert "sample" in root.attrib["aria-label"]

    def test_foreign_names_stay_text(self) -> None:
        for drawing in drawings(HOSTILE):
            root = parsed(drawing)
            assert not list(root.iter(SVG + "script"))
            assert "\u202e" not in drawing

    def test_nothing_is_drawn_outside(self) -> None:
        for drawing in drawings("sample"):
            root = parsed(drawing)
            assert all(0 <= x <= DRAWING_WIDTH for x in numbers(root, "rect", "x"))
            assert all(0 <= x <= DRAWING_WIDTH for x in numbers(root, "circle", "cx"))

    def test_the_same_numbers_give_the_same_drawing(self) -> None:
        assert drawings("sample") == drawings("sample")

    def test_parts_of_a_whole_fill_the_bar(self) -> None:
        root = parsed(stacked_bar("Statuses", [("scored", 3), ("provider_error", 1)]))
        assert numbers(root, "rect", "width") == [DRAWING_WIDTH * 0.75, DRAWING_WIDTH * 0.25]
        assert [one.attrib["class"] for one in root.iter(SVG + "rect")] == [
            "status scored",
            "status provider-error",
        ]


def drawings(name: str) -> list[str]:
    """One of each kind, with a foreign name in it."""
    segments = [
        TrialSegment("waited", 0.0, 0.1),
        TrialSegment("first token", 0.1, 0.2),
        TrialSegment("generation", 0.3, 0.7),
    ]
    curve = DistributionCurve("A", 3, [(0.01, 0.3), (0.5, 0.6), (4.0, 1.0)], [Quantile(0.5, 0.5)])
    bins = [LatencyBin(0.1, 0.9, ChartMean("A", 20, 20, 0.4, 0.2, 0.6))]
    return [
        means_chart(name, name, [ChartRow(name, [ChartMean("A", 4, 4, 0.5)])], {"A": 0}),
        distribution_chart(DistributionChart(name, [curve]), {"A": 0}, {"A": "A"}),
        score_by_latency_chart(ScoreByLatency("A", name, 2, [(0.1, 1.0), (0.9, 0.0)], bins), 0),
        waterfall_chart(name, [TimedTrial(name, 1, 0.0, 1.2, segments)]),
    ]


def curve_of(letter: str, points: list[tuple[int, float]]) -> LoadCurve:
    spread = FigureEstimate(0.1, 0.09, 0.11)
    return LoadCurve(
        letter,
        f"load-{letter}",
        HOSTILE,
        "task",
        [
            LoadPoint(
                LoadLevel(concurrency=level),
                "run",
                rate,
                None,
                TimeDistribution(9, 0.1, spread, spread, spread),
            )
            for level, rate in points
        ],
    )


class TestFronts:
    @given(st.lists(st.tuples(SECONDS, st.floats(0, 1)), min_size=2, max_size=9))
    def test_points_lie_in_the_frame_and_names_on_none_of_each_other(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        candidates = [
            FrontCandidate(chr(65 + place), mean, None, None, ResourcesPerTrial(seconds=seconds))
            for place, (seconds, mean) in enumerate(pairs)
        ]
        (found,) = fronts("task", "score", candidates)
        letters = [point.letter for point in found.points]
        root = parsed(front_chart(found, dict.fromkeys(letters, 0), {one: one for one in letters}))
        assert all(0 <= x <= DRAWING_WIDTH for x in numbers(root, "circle", "cx"))
        assert len(numbers(root, "circle", "cx")) == len(pairs)
        named = [one.attrib for one in root.iter(SVG + "text") if "halo" in one.attrib["class"]]
        assert len({(one["x"], one["y"]) for one in named}) == len(pairs)

    def test_names_of_others_are_text(self) -> None:
        two = [FrontCandidate(one, 0.5, 0.4, 0.6, ResourcesPerTrial(1.0, 3.0)) for one in "AB"]
        for found in fronts(HOSTILE, HOSTILE, two):
            drawing = front_chart(found, {"A": 0, "B": 1}, {"A": HOSTILE, "B": "b"})
            assert "<script" not in drawing
            parsed(drawing)

    def test_a_load_curve_has_a_point_for_each_level(self) -> None:
        curves = [curve_of("A", [(1, 10.0), (2, 18.0)]), curve_of("B", [(1, 5.0)])]
        drawing = load_curves_chart(curves, "latency", {"A": 0, "B": 1}, {"A": HOSTILE, "B": "b"})
        root = parsed(drawing)
        marks = [one for one in root.iter(SVG + "path") if "mark" in one.attrib["class"].split()]
        points = [one.attrib["class"].split() for one in [*root.iter(SVG + "circle"), *marks]]
        medians = [names for names in points if not {"upper", "tail"} & set(names)]
        assert len(medians) == 3
        assert "<script" not in drawing
