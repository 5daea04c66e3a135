"""Shell completion: extends click's classes, so that values may contain `:` or `=` (models, variants)."""

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

BASH_SCRIPT = """\
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

SPECIAL_CHARACTERS = re.compile(r"([^\w@%+=:,./~-])")
"""Regular expression that matches a character that must be escaped in a shell."""


def completion_script(shell: str, command: click.Command, program: str) -> str:
    """Return the completion script that a shell loads."""
    found = _SHELLS[shell](command, {}, program, f"_{program.replace('-', '_').upper()}_COMPLETE")
    return found.source_template % found.source_vars()


def register_completion() -> None:
    """Register these completion classes with click."""
    for each in _SHELLS.values():
        add_completion_class(each)


class _Bash(BashComplete):
    """Completion for bash, which splits words at `:` and `=`, and replaces only the part after the last split."""

    source_template = BASH_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return (words before the incomplete word, incomplete word).

        Words that bash has split at `:` or `=` are joined again.
        """
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        breaks = set(os.environ.get("COMP_BREAKS", "")) & set(":=")
        self._taken = max((incomplete.rfind(each) for each in breaks), default=-1) + 1
        return words, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Return the completions, each as a whole word."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the part of a completion after bash's last split. It is escaped, so that bash takes it as one word."""
        return f"{item.type}," + SPECIAL_CHARACTERS.sub(r"\\\1", item.value[self._taken :])


class _Zsh(ZshComplete):
    """Completion for zsh, which replaces whole words."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Return the completions, each as a whole word."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)


class _Fish(FishComplete):
    """Completion for fish, which replaces whole words."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Return the completions, each as a whole word."""
        return _whole_words(super().get_completions(args, incomplete), incomplete)


def _whole_words(items: list[CompletionItem[str]], incomplete: str) -> list[CompletionItem[str]]:
    """Return the items as whole words.

    If the incomplete word begins with `--option=`, that prefix is put before each value.
    """
    option, equals, _ = incomplete.partition("=")
    if not equals or not option.startswith("-"):
        return items
    return [CompletionItem(f"{option}={item.value}", item.type, item.help) for item in items]


_SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
