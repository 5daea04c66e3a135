"""The test script of an instance: its row's script, extended to print the tests' exit code.

Source: swebench 5.0.2.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.catalog.swe_bench.instance_script import (
    END_MARK,
    EXIT_CODE_MARK,
    EXIT_CODE_VARIABLE,
    START_MARK,
)

_BEGINNING = ("#!/bin/bash", "set -uxo pipefail")
_BETWEEN = re.compile(r"[;&|()<>]+")


def build_instance_script(content: Mapping[str, Any]) -> str:
    """Return the row's bash script, extended to print the exit code of its last test command.

    The exit code is printed after the marker line that ends the results. In the official script, the `git`
    command in the last line decides the exit code.
    """
    lines = [line for line in content["eval_script"].strip().split("\n") if line not in _BEGINNING]
    end = next(number for number, line in enumerate(lines) if END_MARK in line)
    noted = [f"{EXIT_CODE_VARIABLE}=$?", lines[end], f'echo "{EXIT_CODE_MARK}: ${EXIT_CODE_VARIABLE}"']
    return "\n".join([*_BEGINNING, *lines[:end], *noted, *lines[end + 1 :]]) + "\n"


def find_test_programs(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths in the work tree that a row's test commands name: programs, and files among their arguments."""
    commands = content["eval_script"].partition(START_MARK)[2].partition(END_MARK)[0]
    return tuple(dict.fromkeys(_paths(commands)))


def _paths(commands: str) -> Iterator[str]:
    directory = ""
    for line in commands.split("\n"):
        words = _words(_BETWEEN.sub(" ; ", line))
        for before, word in zip(["", *words], words, strict=False):
            path = posixpath.normpath(posixpath.join(directory, word))
            if before == "cd":
                directory = path
            elif not word.startswith(("-", "/")) and not path.startswith(".."):
                yield path


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quoted text that continues in the next line
        return line.split()
