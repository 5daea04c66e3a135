"""`benchwright judge`: measures how far the verdicts of a run's judge can be trusted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.access_options import access_options, given_access_options, header_option
from benchwright.cli.command_help import Command, Group, option
from benchwright.cli.options import output_options
from benchwright.cli.output import echo, print_json, print_summary, print_table, results_on_stdout, say

EXAMPLES = """\b
Examples:
  Draw answers to be labelled; fill in the last column; correct the score:
    benchwright judge sample 20261121T10 -n 200 -o labels.csv
    benchwright judge labels 20261121T10 labels.csv
  Test it: ask again, answers first, longer answers, another judge:
    benchwright judge check 20261121T10 --second-judge other-model
"""


@click.group("judge", cls=Group, epilog=EXAMPLES, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Find out how far the verdicts of a run's judge can be trusted, and correct its score.

    RUN is an eval with `--scorer judge`, or a benchmark with a judge, such as hle.
    """
    if context.invoked_subcommand is None:
        echo(context.get_help())


draw_option = option(
    "--draw", "-n", type=click.IntRange(1), metavar="N", default=100, help="Answers to draw at random."
)
seed_option = option("--seed", type=int, metavar="N", default=0, help="Seed of the random draw.")

SAMPLE_EXAMPLES = """\b
Examples:
  benchwright judge sample 20261121T10 -n 200 -o labels.csv
"""


@command.command("sample", cls=Command, epilog=SAMPLE_EXAMPLES)
@click.argument("run", metavar="RUN", shell_complete=completions.complete_runs)
@draw_option
@option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    default=Path("labels.csv"),
    help="File to write: .csv or .jsonl.",
)
@seed_option
def write_sample(run: str, draw: int, output: Path, seed: int) -> None:
    """Draw answers of RUN at random and write them to a file to be labelled by a person.

    The judge's verdicts are not in it. Write 1 (right) or 0 (wrong) into the column `label_answers`.
    """
    from benchwright.app.judging.answer_sampling import draw_judged_answers
    from benchwright.app.judging.labels_file import write_label_form
    from benchwright.errors import UserError
    from benchwright.formats import count_with_noun
    from benchwright.runs.store import find_run
    from benchwright.runs.table import read_table

    if output.exists():
        raise UserError(f"{output} is there already, perhaps with labels; give another file with --output.")
    drawn = draw_judged_answers(read_table(find_run(run)), draw, seed=seed)
    write_label_form(output, drawn)
    say(
        f"{count_with_noun(len(drawn), 'answer')} written to {output}: fill in the column `label` with 1 or 0."
    )


LABELS_EXAMPLES = """\b
Examples:
  benchwright judge labels 20261121T10 labels.csv
"""


@command.command("labels", cls=Command, epilog=LABELS_EXAMPLES)
@click.argument("run", metavar="RUN", shell_complete=completions.complete_runs)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@access_options
@output_options
def compare_labels(run: str, file: Path, quiet: bool, as_json: bool, debug: bool, **options: Any) -> None:
    """Compare the judge of RUN with the labels in FILE, and correct its score by them.

    Labels of answers that are not of RUN are taken too: the judge is asked about these.
    """
    from benchwright.analysis.summary import summary_of
    from benchwright.app.judging.labels_file import read_label_form
    from benchwright.app.judging.run_judge import prepare_run_again
    from benchwright.app.run_lookup.existing_runs import find_existing_run
    from benchwright.cli.judge_labelling import label_answers, report_judging

    given = read_label_form(file)
    existing = find_existing_run(run)
    with results_on_stdout(as_json=as_json):
        prepared = prepare_run_again(existing, given_access_options(options), say)
        code = report_judging(label_answers(prepared, existing.directory, given, file, quiet=quiet))
    if code:
        sys.exit(code)
    summary = summary_of(existing.directory)
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)


CHECK_EXAMPLES = """\b
Examples:
  benchwright judge check 20261121T10
  benchwright judge check 20261121T10 -n 200 --second-judge other-model \\
      --second-judge-base-url http://localhost:9000/v1
"""


@command.command("check", cls=Command, epilog=CHECK_EXAMPLES)
@click.argument("run", metavar="RUN", shell_complete=completions.complete_runs)
@draw_option
@option(
    "--again",
    type=click.IntRange(0),
    metavar="N",
    default=2,
    help="Times that the judge is asked again as before.",
)
@option(
    "--second-judge",
    metavar="MODEL",
    shell_complete=completions.complete_models,
    help="Another judge to compare with.",
)
@option(
    "--second-judge-base-url",
    metavar="URL",
    help="Base URL of the second judge (default: that of the judge).",
)
@option(
    "--second-judge-api-key-env",
    metavar="NAME",
    help="Environment variable that holds the second judge's API key (default: the judge's at the same "
    "address, else found like --api-key).",
)
@header_option("second-judge", "of the second judge's requests", "Options")
@seed_option
@access_options
@output_options
def run_judge_check(
    run: str,
    draw: int,
    again: int,
    second_judge: str | None,
    second_judge_base_url: str | None,
    second_judge_api_key_env: str | None,
    second_judge_headers: dict[str, str],
    second_judge_headers_env: dict[str, str],
    seed: int,
    quiet: bool,
    as_json: bool,
    debug: bool,
    **options: Any,
) -> None:
    """Ask the judge of RUN again about some of its answers, with one thing changed at a time.

    Asked as before, with the answer shown before the reference, with a longer answer that says no more, and by a
    second judge. What was asked before is not asked again: the same command resumes.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.app.judging.judge_tests import JudgeWithAccess, check_judge
    from benchwright.app.judging.run_judge import judge_of_run, prepare_run_again
    from benchwright.app.judging.second_judge import SecondJudge, second_judge_of
    from benchwright.app.run_lookup.existing_runs import find_existing_run
    from benchwright.cli.judge_labelling import judging_listeners, report_judging
    from benchwright.reports.judge_check import render_judge_check

    existing = find_existing_run(run)
    with results_on_stdout(as_json=as_json):
        prepared = prepare_run_again(existing, given_access_options(options), say)
        judge = JudgeWithAccess(judge_of_run(prepared).target, prepared.request.access["judge"])
        typed = SecondJudge(
            model=second_judge,
            base_url=second_judge_base_url,
            api_key_env=second_judge_api_key_env,
            headers=second_judge_headers,
            headers_env=second_judge_headers_env,
        )
        second = second_judge_of(typed, judge, say)
        checked = run_async(
            check_judge(
                prepared,
                existing.directory,
                n=draw,
                seed=seed,
                repeats=again,
                second=second,
                progress=(lambda title: []) if quiet else judging_listeners,
                say=say,
            )
        )
    if checked.check is None:
        sys.exit(report_judging(checked.session_result))
    if as_json:
        print_json(checked.check)
    else:
        print_table(render_judge_check(checked.check))
