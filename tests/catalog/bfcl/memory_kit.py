"""SYNTHETIC memories in the layout of BFCL's package: the classes only bear the names of BFCL's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.catalog.bfcl.bfcl_kit import turn
from tests.catalog.catalog_kit import write_rows

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"

CLASSES = {
    "memory_kv": f"""
from {PACKAGE}.memory_api_metaclass import MemoryAPI
from rank_bm25 import BM25Plus


class MemoryAPI_kv(MemoryAPI):
    def _load_scenario(self, config, long_context=False):
        kept = self._prepare_snapshot(config) or {{"core_memory": {{}}, "archival_memory": {{}}}}
        self.core_memory, self.archival_memory = kept["core_memory"], kept["archival_memory"]

    def _dump_core_memory_to_context(self):
        return "; ".join(self.core_memory.values()) or "nothing"

    def core_memory_add(self, key, value):
        self.core_memory[key] = value
        return {{"status": "added"}}

    def core_memory_key_search(self, query):
        keys = list(self.core_memory)
        scores = BM25Plus([key.split("_") for key in keys]).get_scores(query.split())
        return {{"ranked_results": sorted(zip(scores, keys), reverse=True)}}
""",
    "memory_rec_sum": f"""
from {PACKAGE}.memory_api_metaclass import MemoryAPI


class MemoryAPI_rec_sum(MemoryAPI):
    def _load_scenario(self, config, long_context=False):
        self.memory = (self._prepare_snapshot(config) or {{"memory": ""}})["memory"]

    def _dump_core_memory_to_context(self):
        return self.memory or "nothing"

    def memory_append(self, text):
        self.memory += text + "; "
        return {{"status": "appended"}}

    def memory_double(self):
        self.memory *= 2
        return {{"status": "doubled"}}

    def memory_clear(self):
        self.memory = ""
        return {{"status": "cleared"}}
""",
}

FUNCTIONS = {
    "memory_kv": (("core_memory_add", ("key", "value")), ("core_memory_key_search", ("query",))),
    "memory_rec_sum": (("memory_append", ("text",)), ("memory_clear", ()), ("memory_double", ())),
}

CONVERSATIONS = {
    "customer": [["My name is Ada.", "I live in Rome."], ["I have a cat."]],
    "notetaker": [["The tax is due."]],
}
"""What is said in each turn of the conversations of each scenario."""

QUESTIONS = [
    ("customer", "What is my name?", ["Ada"]),
    ("customer", "Where do I live?", ["Rome", "the Eternal City"]),
    ("customer", "What do I have?", ["dog"]),
    ("notetaker", "What is due?", ["tax"]),
]
"""Scenario, question and possible answers; what would be right for the third was never said."""


def write_memories(root: Path) -> Path:
    """The data of both memory categories."""
    rows, answers = [], []
    for number, (scenario, question, possible) in enumerate(QUESTIONS):
        identity = f"memory_{number}-{scenario}-{number}"
        rows.append({"id": identity, "question": [turn(question)], "scenario": scenario})
        answers.append({"id": identity, "ground_truth": possible})
    write_rows(root / "BFCL_v4_memory.json", rows)
    write_rows(root / "possible_answer" / "BFCL_v4_memory.json", answers)
    write_rows(root / "BFCL_v4_simple_python.json", [])
    for scenario, conversations in CONVERSATIONS.items():
        told: list[dict[str, Any]] = [
            {
                "id": f"memory_prereq_{n}-{scenario}-{n}",
                "question": list(map(turn, said)),
                "scenario": scenario,
            }
            for n, said in enumerate(conversations)
        ]
        write_rows(root / "memory_prereq_conversation" / f"memory_{scenario}.json", told)
    for module, functions in FUNCTIONS.items():
        write_rows(root / "multi_turn_func_doc" / f"{module}.json", [_document(*one) for one in functions])
        classes = root / "func_source_code"
        classes.mkdir(parents=True, exist_ok=True)
        (classes / f"{module}.py").write_text(CLASSES[module], encoding="utf-8")
    return root


def _document(name: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    properties = {one: {"type": "string", "description": "."} for one in parameters}
    declared = {"type": "dict", "properties": properties, "required": list(parameters)}
    return {"name": name, "description": ".", "parameters": declared}
