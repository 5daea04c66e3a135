"""Composition of settings: users write flat names, and functions take sections (groups of settings)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, ValidationError, model_serializer, model_validator
from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from pydantic import SerializationInfo
    from pydantic_core import ErrorDetails, InitErrorDetails


class SettingsSection(BaseModel):
    """A section: settings that are used together. Each field has the name of its option with underscores."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ComposedSettings(BaseModel):
    """Settings of a command, composed of sections: every field is a section.

    Construction, `model_copy`, dumps and errors use the flat names of the sections' fields:
    `EvalSettings(timeout=5).limits.timeout`. Each class declares the flat names, so that type checkers know them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset()
    """Names of sections that have no options in this command.

    Such a section always has its defaults, and is not dumped.
    """

    @classmethod
    def prepare_flat_values(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the flat values as they are distributed to the sections.

        Subclasses can override this method to change the values.
        """
        return given

    @model_validator(mode="wrap")
    @classmethod
    def _from_flat(cls, given: Any, make: Callable[[Any], Self]) -> Self:
        """Return the settings for the values in `given`, which are by flat name.

        Errors of the sections name flat names, too.
        """
        if not isinstance(given, dict):
            return make(given)
        given = cls.prepare_flat_values(given)
        sections, unknown = split_into_sections(cls, given)
        lines: list[InitErrorDetails] = []
        made: Self | None = None
        try:
            made = make(sections)
        except ValidationError as error:
            lines += [_line(each) for each in error.errors(include_url=False)]
        lines += [{"type": "extra_forbidden", "loc": (str(name),), "input": given[name]} for name in unknown]
        if lines or made is None:
            raise ValidationError.from_exception_data(cls.__name__, lines)
        return made

    @model_serializer(mode="wrap")
    def _to_flat(
        self, dump: Callable[[Self], dict[str, dict[str, Any]]], info: SerializationInfo
    ) -> dict[str, Any]:
        excluded = info.exclude or ()
        return {
            name: value
            for section, fields in dump(self).items()
            if section not in self.OPTIONLESS_SECTIONS
            for name, value in fields.items()
            if name not in excluded
        }

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy of the settings. `update`: new values by flat name; unknown names are ignored."""
        sections, _ = split_into_sections(type(self), update or {})
        changed = {
            section: getattr(self, section).model_copy(update=values) for section, values in sections.items()
        }
        return super().model_copy(update=changed, deep=deep)

    def setting_value(self, name: str) -> Any:
        """Return the value of the setting with this flat name. None if the command has no such setting."""
        section = sections_by_name(type(self)).get(name)
        return None if section is None else getattr(getattr(self, section), name)


@cache
def sections_by_name(kind: type[ComposedSettings]) -> Mapping[str, str]:
    """Return {flat name: section name} for every setting that users can write."""
    return {
        name: section
        for section, field in kind.model_fields.items()
        if section not in kind.OPTIONLESS_SECTIONS
        for name in cast("type[SettingsSection]", field.annotation).model_fields
    }


def split_into_sections(
    kind: type[ComposedSettings], flat: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Distribute values by flat name to sections. Return the sections, and the names that no section has.

    The sections are returned as {section name: {flat name: value}}.
    """
    known = sections_by_name(kind)
    sections: dict[str, dict[str, Any]] = {}
    unknown = []
    for name, value in flat.items():
        if name in known:
            sections.setdefault(known[name], {})[name] = value
        else:
            unknown.append(name)
    return sections, unknown


def flat_setting_schemas(kind: type[ComposedSettings]) -> dict[str, Any]:
    """Return the JSON Schema of each setting, {flat name: schema}."""
    return {
        name: rule
        for section, field in kind.model_fields.items()
        if section not in kind.OPTIONLESS_SECTIONS
        for name, rule in cast("type[SettingsSection]", field.annotation)
        .model_json_schema()["properties"]
        .items()
    }


def _line(error: ErrorDetails) -> InitErrorDetails:
    """Return the validation error of a section as an error for a new `ValidationError`, located by its flat name."""
    kind = PydanticCustomError(error["type"], error["msg"], error.get("ctx"))
    return {"type": kind, "loc": error["loc"][1:], "input": error["input"]}
