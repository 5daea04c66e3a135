"""Servers and programs that stand in for what a reader has: models, viewers, collectors, npm, other evaluators."""

from __future__ import annotations

import sys
from typing import Any

from tests.app.app_kit import Program
from tests.app.pack_kit import served
from tests.app.test_foreign_tasks import STAND_IN as INSPECT
from tests.app.thinking_kit import thinking_server
from tests.docs.documented_lines import ROOT
from tests.docs.page_setting import Setting, SetUp
from tests.http_server import QuietHandler, served_by
from tests.recipes.recipe_kit import PROGRAM, write_recipe
from tests.server_process import free_port
from tests.simulated import simulated_endpoint
from tests.web.web_pack_kit import WebPacks


def replace_address(documented: str, which: str) -> SetUp:
    """Replace an address by that of the `model` or the `judge`, unless the page itself serves there."""

    def set_up(setting: Setting) -> None:
        setting.replacements.setdefault(documented, getattr(setting, which))

    return set_up


def use_free_port(documented: str) -> SetUp:
    """Replace the port of a server that the page starts."""

    def set_up(setting: Setting) -> None:
        setting.replacements.setdefault(f"--port {documented}", f"--port {free_port()}")

    return set_up


def use_free_address(documented: str) -> SetUp:
    """Replace the port and the address of a server that the page starts and leaves running."""

    def set_up(setting: Setting) -> None:
        port = free_port()
        setting.replacements |= {
            f"--port {documented}": f"--port {port}",
            f"http://localhost:{documented}/v1": f"http://127.0.0.1:{port}/v1",
        }

    return set_up


def serve_measured(setting: Setting) -> None:
    """Serve a model that can be saturated; a level takes 0.3 s where its line sets no duration, not 30."""
    setting.variables["BENCHWRIGHT_DURATION"] = "0.3"
    setting.replacements["--rate 2,4,8"] = "--rate 2,4,8 --duration 1.5"  # in which a request arrives
    setting.model = setting.ending.enter_context(simulated_endpoint("--ttft", "30ms", "--slots", "8"))
    setting.variables["BENCHWRIGHT_BASE_URL"] = setting.model


def hide_viewer(setting: Setting) -> None:
    """Serve the viewer on a free port, without a browser."""
    setting.replacements["benchwright view"] = f"benchwright view --no-open --port {free_port()}"


class _Collector(QuietHandler):
    """Takes what OpenTelemetry sends."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"", "application/x-protobuf")


def collect_spans(setting: Setting) -> None:
    """Serve a collector of OpenTelemetry."""
    setting.replacements["http://localhost:4318"] = setting.ending.enter_context(served_by(_Collector))


def serve_thinking(setting: Setting) -> None:
    """Make the default server one that takes thinking options."""
    setting.variables["BENCHWRIGHT_BASE_URL"] = setting.ending.enter_context(thinking_server()).base_url


def serve_web_pack(setting: Setting) -> None:
    """Serve a page and its manifest, and show it on a free port without a browser."""
    folder = setting.directory / "web-pack"
    folder.mkdir()
    pages = setting.ending.enter_context(served(folder))
    WebPacks(Program(folder), pages, folder).write()
    setting.replacements |= {
        "http://127.0.0.1:5177": pages,
        "benchwright pack open": f"benchwright pack open --no-open --port {free_port()}",
    }


NPM = r"""#!/bin/sh
if [ "$1" = view ]; then
    echo 9.9.9
    exit
fi
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/codex"
cp "$BENCHWRIGHT_HOME/recipes/codex.py" "$2/node_modules/codex/agent.py"
printf '#!/bin/sh\nexec python3 "${0%%/*}/agent.py" "$@"\n' >"$2/node_modules/codex/program"
chmod +x "$2/node_modules/codex/program"
echo '{"packages": {"node_modules/codex": {"version": "1"}}}' >"$2/node_modules/.package-lock.json"
"""
"""Takes the arguments of npm: tells a version, and installs the program beside the recipe of codex."""


def write_agent(name: str, **changes: Any) -> SetUp:
    """Put a recipe into the home: a small program that asks once takes the agent's place."""
    asks = "print(ask([{'role': 'user', 'content': prompt}])['content'])"
    from_home = {"command": ["python3", "{home}/agent.py", "{prompt}"], "files": {"agent.py": PROGRAM + asks}}
    changes = changes or from_home

    def set_up(setting: Setting) -> None:
        write_recipe(setting.home / "recipes", asks, name, **changes)

    return set_up


def install_npm(setting: Setting) -> None:
    """Put a program on PATH that takes the arguments of npm; pip finds no index."""
    _put_on_path(setting, "npm", NPM)
    setting.variables |= {"PIP_NO_INDEX": "1"}


def install_inspect(setting: Setting) -> None:
    """Put a program on PATH that takes the arguments of Inspect, asks as Inspect does and leaves such a log."""
    _put_on_path(setting, "inspect", INSPECT.format(python=sys.executable))


def _put_on_path(setting: Setting, name: str, text: str) -> None:
    programs = setting.directory.parent / f"program {name}"
    programs.mkdir()
    (programs / name).write_text(text)
    (programs / name).chmod(0o755)
    setting.variables["PATH"] = f"{programs}:{setting.variables['PATH']}"


LM_EVAL = """#!{python}
import json, os, pathlib, sys, urllib.request
sys.path.insert(0, {root!r})
from tests.interop.foreign_kit import lm_eval, question
given = dict(zip(sys.argv[1:], sys.argv[2:]))
about = dict(pair.split("=", 1) for pair in given["--model_args"].split(","))
for number in range(3):
    body = {{"model": about["model"], "messages": [{{"role": "user", "content": question(number)}}]}}
    headers = {{"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}}
    request = urllib.request.Request(about["base_url"], json.dumps(body).encode(), headers)
    urllib.request.urlopen(request).read()
lm_eval(pathlib.Path(given["--output_path"]), "m", [1.0, 0.0, 1.0])
"""
"""Takes the arguments of lm-evaluation-harness, asks as it does and leaves such results."""


def install_lm_eval(setting: Setting) -> None:
    """Put a program on PATH that takes the arguments of lm-evaluation-harness."""
    _put_on_path(setting, "lm_eval", LM_EVAL.format(python=sys.executable, root=str(ROOT)))
