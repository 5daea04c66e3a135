"""A second judge, from what was typed."""

from __future__ import annotations

import os

from benchwright.app.judging.checking import JudgeAtWork
from benchwright.app.judging.judged import JUDGE
from benchwright.endpoint.providers import check_target, find_key, find_target
from benchwright.errors import UserError
from benchwright.text import Say


def second_judge_of(
    model: str | None, base_url: str | None, key_variable: str | None, judge: JudgeAtWork, say: Say
) -> JudgeAtWork | None:
    """The second judge, by default at the address of the first `judge`, whose key it then has; None without a model.

    Raises:
        UserError: an option is given without the model, or the variable is not set.
    """
    if model is None:
        if base_url is not None or key_variable is not None:
            raise UserError("--second-judge-base-url and --second-judge-api-key-env require --second-judge.")
        return None
    target = find_target(model, base_url or judge.target.base_url, JUDGE)
    given = None if key_variable is None else os.environ.get(key_variable)
    if key_variable is not None and given is None:
        raise UserError(f"--second-judge-api-key-env names {key_variable}, which is not set.")
    if given is None and target.base_url == judge.target.base_url:
        return JudgeAtWork(target, judge.key)
    key = find_key(given, target, say)
    check_target(target, key)
    return JudgeAtWork(target, key)
