"""A plugin of mypy: what may be no number cannot be formatted as one.

mypy itself takes anything in `f"{mean:.3f}"`, though it fails when it runs and the mean is a `NoScore` or None. With
this plugin a value with a format specification must not be a `NoScore`; where figures are made and shown, nor None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mypy.nodes import StrExpr
from mypy.plugin import MethodContext, Plugin
from mypy.types import Instance, NoneType, Type, UnionType, get_proper_type

NO_SCORE = "benchwright.statistic.NoScore"

ROOMS = tuple(f"benchwright/{room}/" for room in ("analysis", "reports", "web", "api", "cli"))
"""Where None is no number either."""


class TypedFormats(Plugin):
    """Checks the parts of f-strings, which mypy turns into `"{:{}}".format(value, specification)`."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """See `mypy.plugin.Plugin`."""
        return _check if fullname == "builtins.str.format" else None


def _check(context: MethodContext) -> Type:
    values = context.args[0] if context.args else []
    if len(values) == 2 and not (isinstance(values[1], StrExpr) and values[1].value == ""):
        none = any(room in context.api.path for room in ROOMS)
        wrong = [str(part) for part in _parts(context.arg_types[0][0]) if _is_no_number(part, none=none)]
        if wrong:
            context.api.fail(
                f"A part of an f-string with a format may be {' or '.join(wrong)}", context.context
            )
    return context.default_return_type


def _parts(value: Type) -> Iterator[Type]:
    proper = get_proper_type(value)
    yield from proper.items if isinstance(proper, UnionType) else [proper]


def _is_no_number(value: Type, *, none: bool) -> bool:
    proper = get_proper_type(value)
    if isinstance(proper, NoneType):
        return none
    return isinstance(proper, Instance) and proper.type.fullname == NO_SCORE


def plugin(version: str) -> type[Plugin]:
    """Return the plugin, as mypy asks for it."""
    return TypedFormats
