"""Benchmarks of users: from files, behind entry points, put into the package, and run on the engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.catalog.documented.answering import AnsweringServer, answering

import llm_benchmarker
from benchwright.catalog import plugins
from benchwright.catalog.benchmark import Options
from benchwright.catalog.llm_benchmarker_api import registry
from benchwright.catalog.selection import Selection
from benchwright.catalog.task import BenchmarkTask
from benchwright.endpoint.providers import connect_client, find_target
from benchwright.engine.executor import LocalExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.run import run
from benchwright.errors import UserError
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import Journal
from benchwright.runs.table import RunTable

EXAMPLE = """
from . import register
from .base import BaseBenchmark, BenchmarkSample, SampleResult

@register
class MyBenchmark(BaseBenchmark):
    name = "my_benchmark"
    description = "My custom benchmark"
    tier = 1

    async def load_dataset(self, data_dir, max_samples=None):
        # Return a list of BenchmarkSample
        return [
            BenchmarkSample(
                id="sample_0",
                messages=[{"role": "user", "content": "What is 2 + 2?"}],
                metadata={"expected": "4"},
            )
        ]

    async def evaluate(self, sample, response):
        correct = "4" in response
        return SampleResult(
            id=sample.id,
            correct=correct,
            score=1.0 if correct else 0.0,
            predicted=response,
            expected=sample.metadata["expected"],
        )
"""
"""The documented example of a benchmark of one's own, as it stands there."""

TALK = """
from llm_benchmarker.benchmarks.base import BaseBenchmark, BenchmarkSample, SampleResult

class Talk(BaseBenchmark):
    name = "talk"
    is_multi_turn = True

    async def load_dataset(self, data_dir, max_samples=None):
        return [
            BenchmarkSample(f"talk_{n}", [{"role": "user", "content": f"say {n}"}], {"kind": ["even", "odd"][n % 2]})
            for n in range(6)
        ]

    async def multi_turn(self, sample, client, config):
        text, _ = await client.chat_completion(sample.messages)
        said = {"role": "assistant", "content": text}
        again, _ = await client.chat_completion([*sample.messages, said, *sample.messages])
        return SampleResult(sample.id, text == again, score=0.5, predicted=again, details={"turns": [text, again]})
"""


@pytest.fixture(autouse=True)
def no_traces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What a test registers and imports is gone after it."""
    monkeypatch.setattr(registry, "_OF_USERS", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(f"{tmp_path}/"):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.write_text(dedent(text), encoding="utf-8")
    return path


class TestFiles:
    def test_the_documented_example_works_as_it_stands(self, tmp_path: Path) -> None:
        (plugin,) = plugins.load_plugin_file(write(tmp_path / "mine.py", EXAMPLE))
        assert (plugin.about.name, plugin.about.description, plugin.about.tier) == (
            *("my_benchmark", "My custom benchmark"),
            1,
        )

    def test_a_benchmark_is_found_by_its_name(self, tmp_path: Path) -> None:
        file = write(tmp_path / "mine.py", EXAMPLE)
        found = plugins.find_plugin("my_benchmark", [file])
        assert found is not None
        assert found.about.source == str(file)
        assert plugins.find_plugin("yours", [file]) is None

    def test_a_file_may_hold_several_and_what_it_imports_lies_beside_it(self, tmp_path: Path) -> None:
        write(tmp_path / "helper_of_mine.py", "PREFIX = 'my'")
        file = write(
            tmp_path / "mine.py",
            """
            from helper_of_mine import PREFIX
            from llm_benchmarker.benchmarks.base import BaseBenchmark

            class Shared(BaseBenchmark):
                async def load_dataset(self, data_dir, max_samples=None):
                    return []

            class One(Shared):
                name = PREFIX + "_one"

            class Two(Shared):
                name = PREFIX + "_two"
            """,
        )
        assert [plugin.about.name for plugin in plugins.load_plugin_file(file)] == ["my_one", "my_two"]

    def test_a_ready_benchmark_of_the_catalogs_kind_is_taken_too(self, tmp_path: Path) -> None:
        file = write(
            tmp_path / "mine.py",
            """
            import msgspec
            from benchwright.catalog.benchmark import Options
            from benchwright.catalog.registry import find_about, make_benchmark

            plain = make_benchmark(find_about("mmlu"), Options())
            mine = msgspec.structs.replace(plain, about=msgspec.structs.replace(plain.about, variant="mine"))
            del plain
            """,
        )
        (plugin,) = plugins.load_plugin_file(file)
        assert plugin.about.full_name == "mmlu:mine"
        assert plugin.build_benchmark(Options()).about is plugin.about

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("x = 1", "holds no benchmark"),
            ("def broken(:", r"cannot be loaded: invalid syntax \(line 1\)"),
            ("\nimport nothing_of_the_kind", "No module named 'nothing_of_the_kind'.*line 2"),
            ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3"),
            (
                EXAMPLE.replace("my_benchmark", "mmlu").replace("@register", ""),
                "'mmlu' belongs to a benchmark",
            ),
        ],
        ids=["nothing", "syntax", "import", "exit", "name of the catalog"],
    )
    def test_what_is_wrong_with_a_file_is_told_in_one_line(
        self, tmp_path: Path, text: str, words: str
    ) -> None:
        with pytest.raises(UserError, match=words) as caught:
            plugins.load_plugin_file(write(tmp_path / "mine.py", text))
        assert "\n" not in str(caught.value)

    def test_a_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"There is no plugin file .*gone\.py"):
            plugins.load_plugin_file(tmp_path / "gone.py")

    def test_an_option_that_is_unknown_is_told(self, tmp_path: Path) -> None:
        (plugin,) = plugins.load_plugin_file(write(tmp_path / "mine.py", EXAMPLE))
        with pytest.raises(UserError, match="my_benchmark has no option 'judge'"):
            plugin.build_benchmark(Options({"judge": "x"}))

    def test_another_text_of_the_file_is_another_version(self, tmp_path: Path) -> None:
        (one,) = plugins.load_plugin_file(write(tmp_path / "one.py", EXAMPLE.replace("@register", "")))
        (other,) = plugins.load_plugin_file(
            write(tmp_path / "other.py", EXAMPLE.replace("@register", "") + "\n#")
        )
        assert one.about.version != other.about.version


class TestEntryPoints:
    @pytest.fixture
    def installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A package with a benchmark behind an entry point, as an installer lays it out."""
        package = tmp_path / "site"
        info = package / "mine-1.0.dist-info"
        info.mkdir(parents=True)
        write(package / "mine_installed.py", TALK)
        write(info / "METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        write(info / "entry_points.txt", "[benchwright.benchmarks]\ntalk = mine_installed:Talk\n")
        monkeypatch.syspath_prepend(str(package))
        monkeypatch.delitem(sys.modules, "mine_installed", raising=False)
        return info

    def test_a_benchmark_behind_one_is_found_by_its_name(self, installed: Path) -> None:
        found = plugins.find_plugin("talk")
        assert found is not None
        assert found.about.source == "entry point mine_installed:Talk"
        assert "talk" in [plugin.about.name for plugin in plugins.find_all_plugins()]

    def test_its_module_is_not_imported_for_another_name(self, installed: Path) -> None:
        assert plugins.find_plugin("whisper") is None
        assert "mine_installed" not in sys.modules

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("talk = gone_module:Talk", "cannot be loaded: ModuleNotFoundError"),
            ("talk = mine_installed:BenchmarkSample", "is not a benchmark"),
            ("other = mine_installed:Talk", "named 'talk' itself"),
        ],
    )
    def test_what_is_wrong_with_one_is_told(self, installed: Path, line: str, words: str) -> None:
        write(installed / "entry_points.txt", f"[benchwright.benchmarks]\n{line}\n")
        with pytest.raises(UserError, match=words):
            plugins.find_plugin(line.split(" ")[0])


def test_the_example_put_into_the_package_and_imported_there_is_found(tmp_path: Path) -> None:
    """The documented way, in a copy of the package: a file beside the others, and one line in `__init__.py`."""
    copy = tmp_path / "llm_benchmarker"
    shutil.copytree(Path(llm_benchmarker.__file__).parent, copy)
    write(copy / "benchmarks" / "my_benchmark.py", EXAMPLE)
    with (copy / "benchmarks" / "__init__.py").open("a") as file:
        file.write("\nfrom . import my_benchmark  # noqa: F401\n")
    program = """
    import llm_benchmarker.benchmarks
    from benchwright.catalog import plugins
    print(plugins.find_plugin("my_benchmark").about.description)
    print(llm_benchmarker.benchmarks.get_benchmark("my_benchmark").tier, llm_benchmarker.__file__)
    """
    ended = subprocess.run(
        [sys.executable, "-c", dedent(program)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.splitlines() == ["My custom benchmark", f"1 {copy / '__init__.py'}"], ended.stderr


class TestRuns:
    """As a task of the engine, with a journal that stays."""

    async def go(
        self,
        file: Path,
        journal: Path,
        server: AnsweringServer,
        selection: Selection = Selection(),  # noqa: B008
        stop_after: int | None = None,
    ) -> list[ScoredTrial]:
        (plugin,) = plugins.load_plugin_file(file)
        benchmark = plugin.build_benchmark(Options(), selection.limit)
        task = BenchmarkTask(benchmark, plugin.source(file.parent), selection)
        target = find_target("m", server.base_url, "primary", {"max_tokens": 2048})
        client = connect_client(target)
        written = Journal(journal)
        rules = [] if stop_after is None else [StopAfter(stop_after)]
        try:
            await run(
                Plan(task, task.size(), [target]),
                LocalExecutor({"primary": client}, 1),
                written,
                rules,
                signals=False,
            )
        finally:
            written.close()
            client.close()
        table = RunTable(journal, effort=True)
        table.read_journal()
        return list(table.read_trials(table.rows_in_start_order(table.counted_rows())))

    async def test_results_are_scores_with_the_documented_details(self, tmp_path: Path) -> None:
        async with answering() as server:
            trials = await self.go(write(tmp_path / "mine.py", TALK), tmp_path / "run", server)
        assert [trial.record.sample for trial in trials] == [f"talk_{n}" for n in range(6)]
        score = trials[3].scores["score"]
        assert (score.value, score.span) == (0.5, "say 3")
        assert score.detail == {"turns": ["say 3", "say 3"], "correct": True, "expected": None}
        assert [len(trial.record.requests) for trial in trials] == [2] * 6

    async def test_an_unfinished_run_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        file = write(tmp_path / "mine.py", TALK)
        async with answering() as server:
            first = await self.go(file, tmp_path / "run", server, stop_after=2)
            asked = len(server.bodies)
            trials = await self.go(file, tmp_path / "run", server)
            assert len(server.bodies) == 2 * 6
        assert (len(first), asked) == (2, 4)
        assert [trial.scores["score"].value for trial in trials] == [0.5] * 6

    async def test_samples_are_selected_by_what_their_metadata_says(self, tmp_path: Path) -> None:
        file = write(tmp_path / "mine.py", TALK)
        async with answering() as server:
            trials = await self.go(file, tmp_path / "run", server, Selection(where={"kind": "odd"}))
        assert [trial.record.sample for trial in trials] == ["talk_1", "talk_3", "talk_5"]

    async def test_the_example_is_right_about_two_and_two(self, tmp_path: Path) -> None:
        async with answering(lambda body: "It is 4.") as server:
            (trial,) = await self.go(write(tmp_path / "mine.py", EXAMPLE), tmp_path / "run", server)
        score = trial.scores["score"]
        assert (score.value, score.span) == (1.0, "It is 4.")
        assert score.detail == {"correct": True, "expected": "4"}
        assert server.bodies[0]["messages"] == [{"role": "user", "content": "What is 2 + 2?"}]


class StopAfter:
    """A rule that stops a run after so many trials."""

    def __init__(self, trials: int) -> None:
        self._left = trials

    def update(self, result: object) -> str | None:
        from benchwright.engine.worker import ScoredWork

        self._left -= isinstance(result, ScoredWork)
        return None if self._left else "enough"
