"""`@osmosis_reward` and `@osmosis_rubric`: check the parameters of a scoring function when it is defined.

If a function's first parameter is not `solution_str`, the function has another signature and is not checked.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

DecoratedFunction = TypeVar("DecoratedFunction", bound=Callable[..., Any])

_NAMES = ("solution_str", "ground_truth", "extra_info")
_ORDINALS = ("First", "Second", "Third")
_MISSING = inspect.Parameter.empty


def osmosis_reward(func: DecoratedFunction) -> DecoratedFunction:
    """Wrap a reward function: `(solution_str: str, ground_truth: str, extra_info: dict = None) -> float`.

    The wrapped function raises TypeError if the function returns anything but a float. It drops the keyword
    `data_source` if the function does not accept it. Async functions stay async.

    Raises:
        TypeError: If the parameters are not as above (the annotation `dict | None` is accepted, too).
    """
    signature = inspect.signature(func)
    if not _is_classic(signature):
        return _wrap(func, signature)
    hints = _check_names(func, signature)
    for position in (0, 1):
        _require(hints[position] is str, position, "must be annotated as str", hints[position])
    _require(_without_none(hints[2]) is dict, 2, "must be annotated as dict", hints[2])
    _require(_defaults(signature)[2] is not _MISSING, 2, "must have a default value of None")
    return _wrap(func, signature, returns_float=True)


def osmosis_rubric(func: DecoratedFunction) -> DecoratedFunction:
    """Wrap a rubric function: `(solution_str: str, ground_truth: str | None, extra_info) -> float`.

    The wrapped function raises TypeError if the solution is not a string, or if the target is neither a
    string nor None. Otherwise it behaves like a function decorated with `osmosis_reward`.

    Raises:
        TypeError: If the parameters are not as above, or if one of the first two has a default.
    """
    signature = inspect.signature(func)
    if not _is_classic(signature):
        return _wrap(func, signature)
    hints = _check_names(func, signature)
    _require(hints[0] is str, 0, "must be annotated as str", hints[0])
    _require(_without_none(hints[1]) is str, 1, "must be annotated as str or Optional[str]", hints[1])
    for position in (0, 1):
        _require(_defaults(signature)[position] is _MISSING, position, "cannot have a default value")
    return _wrap(func, signature, returns_float=True, checks_arguments=True)


def _is_classic(signature: inspect.Signature) -> bool:
    return next(iter(signature.parameters), None) == _NAMES[0]


def _defaults(signature: inspect.Signature) -> list[Any]:
    return [parameter.default for parameter in signature.parameters.values()]


def _check_names(func: Callable[..., Any], signature: inspect.Signature) -> list[Any]:
    """Check the names of the first three parameters, and return these parameters' annotations as types."""
    parameters = list(signature.parameters.values())
    if len(parameters) < 3:
        raise TypeError(
            f"Function {_name(func)} must have at least 3 parameters, got {len(parameters)}: "
            + ", ".join(_NAMES)
        )
    for ordinal, wanted, parameter in zip(_ORDINALS, _NAMES, parameters, strict=False):
        if parameter.name != wanted:
            raise TypeError(f"{ordinal} parameter must be named '{wanted}', got '{parameter.name}'")
    return [_type(func, parameter) for parameter in parameters[:3]]


def _type(func: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return a parameter's annotation as a type. This also works under `from __future__ import annotations`."""
    holder = SimpleNamespace(__annotations__={"type": parameter.annotation})
    try:
        return get_type_hints(holder, globalns=getattr(inspect.unwrap(func), "__globals__", {}))["type"]
    except (NameError, SyntaxError, TypeError):
        return parameter.annotation


def _without_none(hint: Any) -> Any:
    """Return `T` for `T | None`, and `dict` for `dict[str, Any]`. Return other types unchanged."""
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not NoneType]
        hint = members[0] if len(members) == 1 else hint
    return get_origin(hint) or hint


def _require(fulfilled: bool, position: int, rule: str, got: Any = _MISSING) -> None:
    if not fulfilled:
        found = "" if got is _MISSING else f", got {getattr(got, '__name__', got)}"
        raise TypeError(f"{_ORDINALS[position]} parameter '{_NAMES[position]}' {rule}{found}")


def _wrap(
    func: DecoratedFunction,
    signature: inspect.Signature,
    *,
    returns_float: bool = False,
    checks_arguments: bool = False,
) -> DecoratedFunction:
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    drops_source = inspect.Parameter.VAR_KEYWORD not in kinds and "data_source" not in signature.parameters

    def prepare(args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        if drops_source:
            keywords.pop("data_source", None)
        if checks_arguments:
            _check_arguments(signature.bind(*args, **keywords).arguments)

    def check(result: Any) -> Any:
        if returns_float and not isinstance(result, float):
            raise TypeError(f"Function {_name(func)} must return a float, got {type(result).__name__}")
        return result

    @functools.wraps(func)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        prepare(args, keywords)
        return check(func(*args, **keywords))

    @functools.wraps(func)
    async def async_wrapper(*args: Any, **keywords: Any) -> Any:
        prepare(args, keywords)
        return check(await func(*args, **keywords))

    return cast(DecoratedFunction, async_wrapper if inspect.iscoroutinefunction(func) else wrapper)


def _check_arguments(arguments: dict[str, Any]) -> None:
    solution, target = arguments["solution_str"], arguments["ground_truth"]
    if not isinstance(solution, str):
        raise TypeError(f"'solution_str' must be a string, got {type(solution).__name__}")
    if target is not None and not isinstance(target, str):
        raise TypeError(f"'ground_truth' must be a string or None, got {type(target).__name__}")


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))
