"""The shells that complete our commands: click's own, with values that hold `:` or `=`, as models and variants do."""

from __future__ import annotations

import os
import re

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' kind value
    COMPREPLY=()
    while IFS=',' read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="${COMP_LINE:0:COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

SPECIAL = re.compile(r"([^\w@%+=:,./~-])")
"""Characters that a shell would not take as they are."""


def script(shell: str, command: click.Command, program: str) -> str:
    """The script that a shell reads once."""
    found = _SHELLS[shell](command, {}, program, f"_{program.replace('-', '_').upper()}_COMPLETE")
    return found.source_template % found.source_vars()


def register() -> None:
    """Has click speak with shells in these ways."""
    for each in _SHELLS.values():
        add_completion_class(each)


class _Bash(BashComplete):
    """Bash breaks words at `:` and `=`, too, and takes only what follows."""

    source_template = BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, and that one."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        breaks = set(os.environ.get("COMP_BREAKS", "")) & set(":=")
        self._taken = max((incomplete.rfind(each) for each in breaks), default=-1) + 1
        return words, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """As whole words."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)

    def format_completion(self, item: CompletionItem[str]) -> str:
        """What follows the last break, in a form that bash takes as one word."""
        return f"{item.type}," + SPECIAL.sub(r"\\\1", item.value[self._taken :])


class _Zsh(ZshComplete):
    """Zsh takes whole words."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """As whole words."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)


class _Fish(FishComplete):
    """Fish takes whole words."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """As whole words."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)


def _whole_words(items: list[CompletionItem[str]], incomplete: str) -> list[CompletionItem[str]]:
    """Values of `--option=VALUE` with what stands before them."""
    option, equals, _ = incomplete.partition("=")
    if not equals or not option.startswith("-"):
        return items
    return [CompletionItem(f"{option}={item.value}", item.type, item.help) for item in items]


_SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
