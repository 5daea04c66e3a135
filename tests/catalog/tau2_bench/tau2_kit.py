"""A SYNTHETIC phone shop in the layout of tau2-bench: its code, its data and its tasks; none of it is theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.catalog.catalog_kit import benchmark, source
from tests.catalog.tau_bench.tau_kit import call

from benchwright.catalog.benchmark import Benchmark
from benchwright.records import Sample

MESSAGE = """
class Message:
    tool_calls = None
    def __init__(self, **fields):
        vars(self).update(fields)
        self.tool_calls = [ToolCall(**one) for one in self.tool_calls or []]
class AssistantMessage(Message): pass
class UserMessage(Message): pass
class ToolMessage(Message): pass
class ToolCall:
    def __init__(self, name, arguments, id="", requestor="assistant"):
        self.id, self.name, self.arguments, self.requestor = id, name, arguments, requestor
"""

TASKS = """
from types import SimpleNamespace
from tau2.data_model.message import AssistantMessage, UserMessage, ToolMessage
KINDS = {"assistant": AssistantMessage, "user": UserMessage, "tool": ToolMessage}
def fields(given, *names):
    return given and SimpleNamespace(**{name: given.get(name) for name in names})
class Task:
    @classmethod
    def model_validate(cls, row):
        task = cls()
        task.user_tools = row.get("user_tools")
        task.user_scenario = "Instructions:\\n\\t" + row["user_scenario"]["instructions"]
        task.initial_state = fields(
            row.get("initial_state"), "initialization_data", "initialization_actions", "message_history"
        )
        if task.initial_state and task.initial_state.message_history:
            task.initial_state.message_history = [
                KINDS[one["role"]](**one) for one in task.initial_state.message_history
            ]
        criteria = task.evaluation_criteria = fields(row.get("evaluation_criteria"), "actions", "env_assertions")
        if criteria and criteria.actions is not None:
            criteria.actions = [SimpleNamespace(**{"requestor": "assistant", **one}) for one in criteria.actions]
        return task
"""

TOOL = """
from docstring_parser import parse
class Tool:
    def __init__(self, function):
        said = parse(function.__doc__)
        properties = {one.arg_name: {"type": "string", "description": one.description} for one in said.params}
        self.openai_schema = {"type": "function", "function": {
            "name": function.__name__, "description": said.short_description,
            "parameters": {"type": "object", "properties": properties},
        }}
as_tool = Tool
"""

ENVIRONMENT = '''
import json
import os
from pathlib import Path
import toml
from addict import Dict
from loguru import logger
from tau2.data_model.message import ToolMessage
from tau2.environment.tool import Tool
class Shop:
    names = ("get_order", "cancel_order", "calculate", "vanish")
    def __init__(self, db):
        self.db = db
    def get_order(self, order):
        """Looks at an order.

        Args:
            order: Its number.
        """
        return json.dumps(self.db["orders"][order])
    def cancel_order(self, order):
        """Cancels an order.

        Args:
            order: Its number.
        """
        self.db["orders"][order] = "cancelled"
        return "done"
    def calculate(self, expression):
        """Computes."""
        return str(eval(expression))
    def vanish(self):
        """Ends the program."""
        os._exit(3)
class Phone:
    names = ("switch_airplane_mode",)
    def __init__(self, db):
        self.db = db
    def switch_airplane_mode(self):
        """Switches it."""
        self.db["airplane_mode"] = not self.db["airplane_mode"]
        return "on" if self.db["airplane_mode"] else "off"
    def break_phone(self):
        self.db["airplane_mode"] = True
    def is_online(self, number):
        return self.db["online"]
class Environment:
    def __init__(self, folder, phone, solo_mode=False, policy_type="manual"):
        self.solo = solo_mode
        name = ("main_policy" if phone else "policy") + ("_solo.md" if solo_mode else ".md")
        self.policy = (folder / name).read_text() + ("" if policy_type == "manual" else " In steps.")
        self.shop = Shop(json.loads((folder / "db.json").read_text()) if not phone else {"orders": {}})
        self.phone = None
        if phone:
            with open(folder / "user_db.toml") as file:
                self.phone = Phone(Dict(toml.load(file)))
            self.sync_tools()
    def get_policy(self):
        return self.policy
    def get_tools(self):
        return [Tool(getattr(self.shop, name)) for name in self.shop.names]
    def get_user_tools(self, include=None):
        if self.phone is None:
            raise ValueError("User tools not available")
        return [Tool(getattr(self.phone, name)) for name in self.phone.names if include is None or name in include]
    def sync_tools(self):
        if self.phone:
            self.phone.db.update({"online": not self.phone.db["airplane_mode"]})
    def set_state(self, initialization_data, initialization_actions, message_history):
        for one in initialization_actions or []:
            getattr(self.phone, one["func_name"])(**one["arguments"])
        for call in [call for message in message_history for call in message.tool_calls]:
            if call.name not in ("calculate", "shell", "KB_search_dense"):
                self.get_response(call)
        self.sync_tools()
    def make_tool_call(self, tool_name, requestor, **arguments):
        is_of_the_phone = self.solo and tool_name in self.phone.names
        kit = self.phone if requestor == "user" or is_of_the_phone else self.shop
        if kit is None or tool_name not in kit.names:
            raise ValueError(f"Tool '{tool_name}' not found.")
        return getattr(kit, tool_name)(**arguments)
    def get_response(self, call):
        logger.debug("a call")
        try:
            content, error = self.make_tool_call(call.name, call.requestor, **call.arguments), False
            self.sync_tools()
        except Exception as problem:
            content, error = f"Error: {problem}", True
        return ToolMessage(role="tool", id=call.id, content=content, error=error)
    def get_db_hash(self):
        return json.dumps(self.shop.db)
    def get_user_db_hash(self):
        return self.phone and json.dumps(self.phone.db)
    def run_env_assertion(self, assertion, raise_assertion_error):
        return getattr(self.phone, assertion["func_name"])(**assertion["arguments"]) == assertion["assert_value"]
'''

DOMAIN = """
import os
from pathlib import Path
from tau2.environment.environment import Environment
def get_environment(**settings):
    return Environment(Path(os.environ["TAU2_DATA_DIR"]) / "tau2" / "domains" / "{domain}", {phone}, **settings)
"""

BANK = '''
import json
import os
from pathlib import Path
import subprocess
import tau2.knowledge
from tau2.environment.environment import Environment, Shop
from tau2.knowledge import registry, sandbox_manager
DATA = Path(os.environ["TAU2_DATA_DIR"]) / "tau2" / "domains" / "banking_knowledge"
class Bank(Shop):
    names = ("shell", "KB_search_dense", *Shop.names)
    def shell(self, command):
        """Runs a command."""
        argv = ["srt", "--settings", "settings.json", command]
        try:
            ended = sandbox_manager.subprocess.run(argv, capture_output=True, timeout=2, cwd=str(DATA / "exported"))
        except subprocess.TimeoutExpired:
            return "too long"
        return f"{ended.returncode} {ended.stdout}{ended.stderr}"
    def KB_search_dense(self, query):
        """Finds documents."""
        given = registry.INPUT_PREPROCESSORS["embedding_encoder"]().process({"query": query}, {})
        found = registry.RETRIEVERS["cosine"](top_k=2).retrieve(given, {})
        return ", ".join(f"{name} {score:.1f}" for name, score in found)
def get_environment(retrieval_variant, task, read_log_allowlist):
    assert tau2.knowledge._registered and sandbox_manager._DEPS_VERIFIED
    (DATA / "policy.md").write_text("Look it up.")
    (DATA / "exported").mkdir(exist_ok=True)
    for file in (DATA / "documents").glob("*.json"):
        (DATA / "exported" / file.with_suffix(".md").name).write_text(json.loads(file.read_text())["content"])
    environment = Environment(DATA, False)
    environment.shop = Bank({"orders": {}})
    return environment
'''
REGISTRY = "DOCUMENT_PREPROCESSORS, INPUT_PREPROCESSORS, RETRIEVERS = {}, {}, {}"

GUIDELINES = "You are a customer.<PERSONA_GUIDELINES> Say ###STOP### in the end."
GUIDELINES_WITH_TOOLS = "You are a customer with a phone.<PERSONA_GUIDELINES> Say ###STOP### in the end."

CANCEL: dict[str, Any] = {"name": "cancel_order", "arguments": {"order": "1"}}
SWITCH: dict[str, Any] = {"name": "switch_airplane_mode", "arguments": {}, "requestor": "user"}
ONLINE: dict[str, Any] = {
    "env_type": "user",
    "func_name": "is_online",
    "arguments": {"number": "555"},
    "assert_value": True,
}


def cancelling(identity: str = "0", **criteria: Any) -> dict[str, Any]:
    """A task to cancel an order."""
    wanted = {"actions": [CANCEL], "communicate_info": ["12"], "reward_basis": ["DB", "COMMUNICATE"]}
    scenario = {"instructions": f"You want the order of {identity} cancelled."}
    return {"id": identity, "user_scenario": scenario, "evaluation_criteria": wanted | criteria}


def going_online(identity: str = "0", **fields: Any) -> dict[str, Any]:
    """A task to have the phone out of airplane mode, which the user must do."""
    return {
        "id": identity,
        "user_scenario": {"instructions": f"You are {identity}, whose phone is not online."},
        "initial_state": {
            "initialization_actions": [{"env_type": "user", "func_name": "break_phone", "arguments": {}}]
        },
        "evaluation_criteria": {
            "actions": [SWITCH],
            "env_assertions": [ONLINE],
            "reward_basis": ["ENV_ASSERTION"],
        },
    } | fields


def write_shop(root: Path, **tasks: Sequence[Mapping[str, Any]]) -> Path:
    """The repository with these tasks by domain; those of telecom are on the phone."""
    files = {
        "src/tau2/config.py": "",
        "src/tau2/data_model/message.py": MESSAGE,
        "src/tau2/data_model/tasks.py": TASKS,
        "src/tau2/environment/environment.py": ENVIRONMENT,
        "src/tau2/environment/tool.py": TOOL,
        "data/tau2/user_simulator/simulation_guidelines.md": GUIDELINES,
        "data/tau2/user_simulator/simulation_guidelines_tools.md": GUIDELINES_WITH_TOOLS,
    }
    for domain, rows in tasks.items():
        data = f"data/tau2/domains/{domain}"
        phone = domain == "telecom"
        files[f"src/tau2/domains/{domain}/environment.py"] = DOMAIN.format(domain=domain, phone=phone)
        files[f"{data}/tasks.json"] = json.dumps(rows)
        files[f"{data}/split_tasks.json"] = json.dumps(
            {"base": [row["id"] for row in rows], "test": [row["id"] for row in rows[1:]]}
        )
        files[f"{data}/{'main_policy.md' if phone else 'policy.md'}"] = f"Be kind in {domain}."
        if phone:
            files[f"{data}/main_policy_solo.md"] = "Do it yourself."
            files[f"{data}/user_db.toml"] = "airplane_mode = false\nonline = true\n"
        else:
            files[f"{data}/db.json"] = json.dumps({"orders": {"1": "on its way", "2": "there"}})
    return _written(root, files)


def write_bank(root: Path, task: Mapping[str, Any], documents: Mapping[str, str]) -> Path:
    """The repository with a task of banking_knowledge and these documents, as found by search and as files."""
    data = "data/tau2/domains/banking_knowledge"
    files = {
        f"{data}/tasks/task_001.json": json.dumps(task),
        f"{data}/db.json": json.dumps({"orders": {}}),
        "src/tau2/domains/banking_knowledge/environment.py": BANK,
        "src/tau2/knowledge/__init__.py": "",
        "src/tau2/knowledge/registry.py": REGISTRY,
        "src/tau2/knowledge/sandbox_manager.py": "",
        "src/tau2/knowledge/document_preprocessors/bm25_indexer.py": "",
        "src/tau2/knowledge/retrievers/bm25_retriever.py": "",
        "src/tau2/knowledge/retrievers/grep_retriever.py": "",
    }
    for name, text in documents.items():
        files[f"{data}/documents/{name}.json"] = json.dumps({"id": name, "title": name, "content": text})
    root = write_shop(root, retail=[cancelling()])
    return _written(root, files)


def _written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def made(root: Path, domain: str, **options: str) -> tuple[Benchmark, Sample]:
    """The benchmark on one domain, and its first sample."""
    one = benchmark("tau2_bench", {"domain": domain, **options})
    return one, next(iter(one.samples(source("tau2_bench", root))))


ORDER = call("get_order", {"order": "1"})
CANCELLED = call("cancel_order", {"order": "1"}, 2)
SWITCHED = call("switch_airplane_mode", {}, 3)
