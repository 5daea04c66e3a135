"""Creates a second judge, for comparison with a run's judge, from the command's options."""

from __future__ import annotations

from benchwright.app.access import role_headers
from benchwright.app.judging.judge_tests import JudgeWithAccess
from benchwright.app.judging.run_judge import JUDGE_SLOT
from benchwright.endpoint.access import Access
from benchwright.endpoint.credentials import read_key
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.text import Say


class SecondJudge(Record, frozen=True):
    """Command options for a second judge.

    `headers`: header values by name. `headers_env`: environment variables that hold header values, by header name.
    """

    model: str | None
    base_url: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = {}
    headers_env: dict[str, str] = {}


def second_judge_of(typed: SecondJudge, judge: JudgeWithAccess, say: Say) -> JudgeWithAccess | None:
    """Return the second judge. Return None if the user gave no model for it.

    Its default address and access are those of the first judge (`judge`).

    Raises:
        UserError: If an option is given without the model, a variable is not set, or a header is invalid.
    """
    if typed.model is None:
        if typed != SecondJudge(None):
            raise UserError("Options of a second judge (--second-judge-…) require --second-judge.")
        return None
    variable = typed.api_key_env
    key = None if variable is None else read_key(variable, "--second-judge-api-key-env")
    headers = role_headers("--second-judge-header", typed.headers, typed.headers_env)
    access = Access(key, headers, judge.access.tls)
    base_url = typed.base_url or judge.target.base_url
    if base_url.rstrip("/") == judge.target.base_url:
        access = access.with_defaults(judge.access)
    target = find_target(typed.model, base_url, JUDGE_SLOT, access=access)
    found = find_access(access, target, say)
    check_target(target, found)
    return JudgeWithAccess(target, found)
