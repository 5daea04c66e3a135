"""What the authors of a model family recommend to send: a shipped table, and the user's own before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from benchwright.app.models_file import first_complaint, read_toml
from benchwright.errors import UserError
from benchwright.home import recommended_file
from benchwright.text import plain

SHIPPED = Path(__file__).with_name("recommended.toml")


def _lowered(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern.lower() for pattern in patterns)


class Family(BaseModel):
    """Models that want the same settings, which are its further keys; `thinking` is None where that changes nothing."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(min_length=1)
    models: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_lowered)]
    source: str = Field(min_length=1)
    thinking: bool | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Body fields of every request."""
        return dict(self.model_extra or {})

    def holds_for(self, model: str, *, thinks: bool) -> bool:
        """Whether a model, while it thinks or while it does not, is of this family."""
        name = model.rpartition("/")[2].lower()
        return self.thinking in (None, thinks) and any(fnmatchcase(name, pattern) for pattern in self.models)


class Recommended(NamedTuple):
    """What is recommended for a model: the family that it is of, who says so, and body fields of every request."""

    family: str
    source: str
    settings: Mapping[str, Any]

    def as_applied(self, sent: Mapping[str, Any]) -> Recommended:
        """What of it is among the fields that are sent; the user may have given others."""
        kept = {name: value for name, value in self.settings.items() if sent.get(name) == value}
        return self._replace(settings=kept)

    @property
    def words(self) -> str:
        """All of it, as a sentence's end."""
        told = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{plain(self.family)} ({plain(self.source)}): {plain(told)}"


def find_recommended(model: str, *, thinks: bool, given: Path | None = None) -> Recommended:
    """What is recommended for a model: by the file that was given, else by the user's own, else by the shipped one.

    Raises:
        UserError: none has the model, or a file is not as it should be.
    """
    own = recommended_file()
    paths = [*([] if given is None else [given]), *([own] if own.exists() else []), SHIPPED]
    for path in paths:
        for family in read_families(path):
            if family.holds_for(model, thinks=thinks):
                return Recommended(family.name, family.source, family.settings)
    raise UserError(
        f"Nothing is recommended for {plain(model)!r}: write its settings into {given or own} (see docs/reasoning.md), "
        "or leave out --recommended."
    )


def read_families(path: Path) -> list[Family]:
    """The families of a file, in its order.

    Raises:
        UserError: it cannot be read, or a family is not as it should be; names it.
    """
    return list(_families(read_toml(path), path))


def _families(content: Mapping[str, Any], path: Path) -> Iterator[Family]:
    tables = content.get("families")
    if not isinstance(tables, list) or not tables or content.keys() != {"families"}:
        raise UserError(
            f"{path} has no families: write a table [[families]] for each, with name, models, source and settings."
        )
    for number, table in enumerate(tables, 1):
        try:
            family = Family.model_validate(table)
        except ValidationError as error:
            raise UserError(f"{path}, family {number}: {first_complaint(error, Family)}") from None
        if not family.settings:
            raise UserError(f"{path}, family {number}: it recommends no settings.")
        yield family
