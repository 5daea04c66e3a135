"""`python -m tests.field [SERVER ...]`: tries the features on these servers, by default on all.

--quick    only servers that fit into the time of CI; says what it leaves out, and why
--json     where the results are written (default: build/field.json)
--only     features, separated by commas (default: all)
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import pytest
from tests.environments import ROOT
from tests.field.kept import Unavailable
from tests.field.results import Results, show
from tests.field.servers import SERVERS

HERE = Path(__file__).parent


def main() -> int:
    """Run the tests, print the table and write it down; return pytest's exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.field", description="Tries the features on real servers."
    )
    parser.add_argument(
        "servers", nargs="*", metavar="SERVER", help=f"among {', '.join(SERVERS)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="only servers that fit into the time of CI")
    parser.add_argument("--only", default="", metavar="FEATURE,...", help="only these features")
    parser.add_argument(
        "--json", type=Path, default=ROOT / "build" / "field.json", help="file of the results"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.servers if name not in SERVERS]:
        parser.error(f"there is no server {', '.join(unknown)}; there are {', '.join(SERVERS)}")
    names = options.servers or [
        name for name, server in SERVERS.items() if not (server.costs and options.quick)
    ]
    results = Results()
    ready = [name for name in names if prepare(name, results)]
    os.environ["FIELD_SERVERS"] = ",".join(ready)
    os.environ["FIELD_FEATURES"] = options.only
    code = pytest.main(["-p", "no:randomly", "-p", "no:xdist", "-q", "-rf", str(HERE)], plugins=[results])
    document = results.document()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    show(document)
    for name, server in SERVERS.items():
        if name not in names:
            print(f"Left out: {name}: {server.costs or 'not among the servers of this call'}")
    return int(code) or int(bool(os.environ.get("CI")) and ready != names)


def prepare(name: str, results: Results) -> bool:
    """Install or compile what is missing of a server; note the reason and return False if it cannot be had."""
    print(f"{name}: preparing", flush=True)
    began = time.monotonic()
    try:
        SERVERS[name].prepare()
    except Unavailable as error:
        results.unavailable[name] = str(error)
        return False
    print(f"{name}: ready after {time.monotonic() - began:.0f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
