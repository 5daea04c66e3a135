"""Imports every module of the packages, in the environment of the Python that runs this, and names what fails.

    python tests/every_module.py

Features that need an extra import its libraries when they are used, so every module can be imported without them.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings

PACKAGES = ("benchwright", "osmosis_ai", "llm_benchmarker")
OF_EXTRAS = {"benchwright.app.telemetry_export": "opentelemetry"}
"""Modules that are imported only once the feature is used, with the library that they need."""


def main() -> int:
    """Print one line for each module that cannot be imported; return their number."""
    warnings.simplefilter("error", DeprecationWarning)
    failures = []
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            if module.name.endswith("__main__") or ".templates" in module.name:
                continue
            try:
                importlib.import_module(module.name)
            except Exception as error:
                missing = (getattr(error, "name", None) or "").partition(".")[0]
                if missing and OF_EXTRAS.get(module.name) == missing:
                    continue
                failures.append(f"{module.name}: {type(error).__name__}: {error}")
    print("\n".join(failures) or f"{sum(name.startswith(PACKAGES) for name in sys.modules)} modules imported")
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
