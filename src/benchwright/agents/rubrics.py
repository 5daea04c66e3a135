"""The names of Osmosis' hosted rubric judge, which is not part of this program: programs that import them run."""

from __future__ import annotations

from typing import Any

from benchwright.errors import UserError

NO_HOSTED_JUDGE = (
    "{} asks the hosted judges of Osmosis, which this program does not. "
    "`benchwright eval --scorer judge --scorer-option rubric=...` scores by a rubric with a model of yours."
)


class MissingAPIKeyError(UserError):
    """The judge's key is missing."""


class ProviderRequestError(UserError):
    """The judge could not be asked."""


class ModelNotFoundError(ProviderRequestError):
    """There is no such judge."""


def evaluate_rubric(*_: Any, **__: Any) -> float:
    """Would ask a hosted judge.

    Raises:
        UserError: always; says what to use instead.
    """
    raise UserError(NO_HOSTED_JUDGE.format("evaluate_rubric"))
