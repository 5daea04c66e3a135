"""The names of Osmosis' hosted rubric judge. Programs can import these names, but Benchwright has no such judge."""

from __future__ import annotations

from typing import Any

from benchwright.errors import UserError

NO_HOSTED_JUDGE_MESSAGE = (
    "{} asks the hosted judges of Osmosis, which this program does not. "
    "`benchwright eval --scorer judge --scorer-option rubric=...` scores by a rubric with a model of yours."
)


class MissingAPIKeyError(UserError):
    """Exception for a missing API key of the judge."""


class ProviderRequestError(UserError):
    """Exception for a failed request to the judge."""


class ModelNotFoundError(ProviderRequestError):
    """Exception for an unknown judge."""


def evaluate_rubric(*_: Any, **__: Any) -> float:
    """Raise an error, because Benchwright has no hosted judge.

    Raises:
        UserError: Always. The message names the alternative.
    """
    raise UserError(NO_HOSTED_JUDGE_MESSAGE.format("evaluate_rubric"))
