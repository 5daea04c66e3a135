"""What a test can leave behind in its process, and other tests stumble over."""

from __future__ import annotations

import locale
import logging
import os
import signal
import sys
from dataclasses import dataclass, fields
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGVTALRM)
KEPT_VARIABLES = (
    *("PYTEST_", "FASTMCP_", "HF_HUB_DISABLE_TELEMETRY", "LITELLM_", "RAY_", "TIKTOKEN_CACHE_DIR"),
    "PYTHONBREAKPOINT",  # set by Ray
)
"""Beginnings of names: pytest's own, and what libraries are told once for the life of the process."""
INSTALLED = tuple(folder for folder in sys.path if folder)
"""Where modules come from that do not belong to one test."""


@dataclass
class Traces:
    """The parts of a process that any code in it may change."""

    environment: dict[str, str]
    directory: str
    paths: list[str]
    signals: list[Any]
    language: str
    log_handlers: list[logging.Handler]
    modules: set[str]
    registered: list[str]

    def beyond(self, before: Traces) -> dict[str, tuple[Any, Any]]:
        """What differs, as (before, now)."""
        differing: dict[str, tuple[Any, Any]] = {}
        for field in fields(self):
            was, now = getattr(before, field.name), getattr(self, field.name)
            if field.name == "modules":
                was, now = set(), {name for name in now - was if not _is_installed(name)}
            if was != now:
                differing[field.name] = (was, now)
        return differing


def traces() -> Traces:
    """The process as it is now."""
    registry = sys.modules.get("benchwright.catalog.llm_benchmarker_api.registry")
    return Traces(
        environment={
            name: value for name, value in os.environ.items() if not name.startswith(KEPT_VARIABLES)
        },
        directory=os.getcwd(),
        paths=list(sys.path),
        signals=[signal.getsignal(number) for number in SIGNALS],
        language=locale.setlocale(locale.LC_ALL),
        log_handlers=list(logging.getLogger().handlers),
        modules=set(sys.modules),
        registered=sorted(registry.registered_benchmarks()) if registry else [],
    )


def _is_installed(name: str) -> bool:
    if name.startswith("_osmosis_mcp_"):
        return True  # a directory of MCP tools is imported under a name of its own
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or file.startswith(INSTALLED)
