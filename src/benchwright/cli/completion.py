"""`benchwright completion`: prints scripts by which a shell completes commands, options and local names."""

from __future__ import annotations

import click

from benchwright.cli.command_help import Command
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  Bash, zsh and fish, in this window; fish keeps what lies in that folder:
    eval "$(benchwright completion bash)"
    eval "$(benchwright completion zsh)"
    benchwright completion fish | source
  From now on, in every window:
    echo 'eval "$(benchwright completion bash)"' >> ~/.bashrc
    echo 'eval "$(benchwright completion zsh)"' >> ~/.zshrc
    benchwright completion fish > ~/.config/fish/completions/benchwright.fish
"""


@click.command("completion", cls=Command, epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, runs, benchmarks, packs, models and tags in SHELL.

    The script completes the program that printed it: `osmosis` and `llm-bench` have scripts of their own.
    """
    from benchwright.cli.shell_completion import completion_script

    root = context.find_root()
    echo(completion_script(shell, root.command, root.info_name or ""), end="")
