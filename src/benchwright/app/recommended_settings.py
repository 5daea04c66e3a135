"""Recommended request settings per model family: a shipped table, and the user's own with priority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from benchwright.app.models_file import first_validation_error, read_toml
from benchwright.errors import UserError
from benchwright.home import recommended_file
from benchwright.text import make_safe

SHIPPED_FILE = Path(__file__).with_name("recommended.toml")


def _lowered(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern.lower() for pattern in patterns)


class ModelFamily(BaseModel):
    """Models with the same recommended settings, as an entry of the file.

    The recommended settings are the keys of the entry that are no fields of this class. `thinking`: True if the
    settings apply only with reasoning, False if they apply only without, None if they apply to both.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(min_length=1)
    models: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_lowered)]
    source: str = Field(min_length=1)
    thinking: bool | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The recommended body fields, sent with every request."""
        return dict(self.model_extra or {})

    def applies_to_model(self, model: str, *, thinks: bool) -> bool:
        """Return True if these settings apply to a model of this name. `thinks`: True if it reasons."""
        name = model.rpartition("/")[2].lower()
        return self.thinking in (None, thinks) and any(fnmatchcase(name, pattern) for pattern in self.models)


class RecommendedSettings(NamedTuple):
    """Recommended settings for a model: its family, the source of the recommendation, and the body fields."""

    family: str
    source: str
    settings: Mapping[str, Any]

    def without_overridden_settings(self, sent: Mapping[str, Any]) -> RecommendedSettings:
        """Return the recommended settings that the user has not overridden.

        `sent`: the body fields that are really sent.
        """
        kept = {name: value for name, value in self.settings.items() if sent.get(name) == value}
        return self._replace(settings=kept)

    @property
    def description(self) -> str:
        """Family, source and settings, worded as the end of a sentence."""
        told = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{make_safe(self.family)} ({make_safe(self.source)}): {make_safe(told)}"


def find_recommended_settings(model: str, *, thinks: bool, given: Path | None = None) -> RecommendedSettings:
    """Return the recommended settings for a model.

    The first file that has the model counts, in this order: the given file, the user's own file, the shipped file.

    Raises:
        UserError: If no file has the model, or a file is invalid.
    """
    own = recommended_file()
    paths = [*([] if given is None else [given]), *([own] if own.exists() else []), SHIPPED_FILE]
    for path in paths:
        for family in read_families(path):
            if family.applies_to_model(model, thinks=thinks):
                return RecommendedSettings(family.name, family.source, family.settings)
    raise UserError(
        f"Nothing is recommended for {make_safe(model)!r}: write its settings into {given or own} (see "
        "docs/reasoning.md), "
        "or leave out --recommended."
    )


def read_families(path: Path) -> list[ModelFamily]:
    """Return the model families in a file of recommended settings, in order.

    Raises:
        UserError: If the file cannot be read, or a family is invalid. The message names the family.
    """
    return list(_families(read_toml(path), path))


def _families(content: Mapping[str, Any], path: Path) -> Iterator[ModelFamily]:
    tables = content.get("families")
    if not isinstance(tables, list) or not tables or content.keys() != {"families"}:
        raise UserError(
            f"{path} has no families: write a table [[families]] for each, with name, models, source and settings."
        )
    for number, table in enumerate(tables, 1):
        try:
            family = ModelFamily.model_validate(table)
        except ValidationError as error:
            raise UserError(
                f"{path}, family {number}: {first_validation_error(error, ModelFamily)}"
            ) from None
        if not family.settings:
            raise UserError(f"{path}, family {number}: it recommends no settings.")
        yield family
