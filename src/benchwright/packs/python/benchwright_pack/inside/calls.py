"""Calls the pack's functions, tracks which call the running code belongs to, and reports the process's end."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .channel import Channel
from .values import describe_error

CURRENT: contextvars.ContextVar[int] = contextvars.ContextVar("benchwright_call", default=0)


class Stopped(BaseException):
    """Raised in a thread that runs a function of the pack, when the function's scenario is abandoned."""


async def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the pack, and return the function's result.

    An async function runs on this event loop. A plain function runs in a thread of its own. Cancelling raises
    `Stopped` in the thread, at the next step of its Python code.
    """
    if inspect.iscoroutinefunction(inspect.unwrap(function)):
        return await function(*arguments)
    result = await in_thread(lambda: function(*arguments))
    return await result if inspect.isawaitable(result) else result


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread of its own, and return the function's result.

    There is no pool of threads, because many scenarios wait for their models at the same time.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((result, error))

    def work() -> None:
        try:
            result, error = context.run(function), None
        except BaseException as raised:
            result, error = None, raised
        loop.call_soon_threadsafe(settle, result, error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        result, error = await future
    except asyncio.CancelledError:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stopped)
        )
        raise
    if error is not None:
        raise error
    return result


def guard_process(channel: Channel, loop: asyncio.AbstractEventLoop) -> None:
    """Report to the host which call ended the process, or raised an error that nothing caught.

    A call can end the process by os._exit or os.abort. `sys.exit` only raises an exception, and so fails its
    call.
    """
    leave, abort = os._exit, os.abort

    def tell(how: str) -> None:
        channel.send(CURRENT.get(), "ending", json.dumps({"how": how}))

    def told_exit(status: int) -> NoReturn:
        tell(f"os._exit({status})")
        leave(status)

    def told_abort() -> NoReturn:
        tell("os.abort()")
        abort()

    def uncaught(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            error = describe_error(arguments.exc_value)
            channel.send(CURRENT.get(), "rejected", json.dumps(error))

    def unhandled(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
        error = about.get("exception") or RuntimeError(about.get("message"))
        channel.send(CURRENT.get(), "rejected", json.dumps(describe_error(error)))

    os._exit, os.abort = told_exit, told_abort
    sys.stdin = open(os.devnull)  # noqa: SIM115
    threading.excepthook = uncaught
    loop.set_exception_handler(unhandled)
