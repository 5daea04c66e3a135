"""SYNTHETIC memories in the layout of BFCL's package: the classes only bear the names of BFCL's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.catalog.bfcl.bfcl_kit import Script, turn
from tests.catalog.catalog_kit import benchmark, source, write_rows

from benchwright.catalog.bfcl import encoder
from benchwright.catalog.bfcl.about import EMBEDDING_MODEL
from benchwright.catalog.bfcl.benchmark import Bfcl
from benchwright.records import Message, Outcome, Trial

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
    "memory_vector": f"""
from {PACKAGE}.memory_api_metaclass import MemoryAPI
from sentence_transformers import SentenceTransformer

ENCODER = SentenceTransformer("all-MiniLM-L6-v2", device="cpu")


class Part:
    def __init__(self, texts):
        self.texts = texts
        self.vectors = ENCODER.encode(texts, normalize_embeddings=True) if texts else None

    def export(self):
        return dict(enumerate(self.texts))


class MemoryAPI_vector(MemoryAPI):
    def _load_scenario(self, config, long_context=False):
        kept = self._prepare_snapshot(config) or {{"core_memory": {{}}}}
        self.core_memory = Part(list(kept["core_memory"].values()))
        self.dimension = ENCODER.get_sentence_embedding_dimension()

    def _dump_core_memory_to_context(self):
        return "; ".join(self.core_memory.texts) or "nothing"

    def core_memory_add(self, text):
        self.core_memory = Part([*self.core_memory.texts, text])
        return {{"status": "added"}}

    def core_memory_retrieve(self, query):
        (wanted,) = ENCODER.encode([query], normalize_embeddings=True)
        likeness = self.core_memory.vectors @ wanted
        return {{"nearest": self.core_memory.texts[likeness.argmax()], "likeness": float(likeness.max())}}
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

SIMULATED_LIBRARY = """
import os

import numpy as np


class SentenceTransformer:
    def __init__(self, folder, device):
        assert os.path.exists(folder + "/1_Pooling/config.json")

    def encode(self, texts, normalize_embeddings):
        if "end yourself" in texts:
            os._exit(1)
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("texts only")
        counts = [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        vectors = np.array(counts, dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
"""
"""SIMULATED: in the place of sentence-transformers. A vector counts the letters of a text."""


def simulate_library(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """Lets memory_vector find its libraries and its model, both SIMULATED; the model has its files' names only."""
    files_for = encoder.sandbox_files
    library = {"sentence_transformers.py": SIMULATED_LIBRARY.encode()}
    monkeypatch.setattr(encoder, "sandbox_files", lambda folder: files_for(folder) | library)
    monkeypatch.setattr(encoder, "version", {"sentence-transformers": "6.2.0", "faiss-cpu": "1.11.0"}.get)
    for name in EMBEDDING_MODEL.splits["test"]:
        path = data_dir / EMBEDDING_MODEL.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"SIMULATED")


FUNCTIONS = {
    "memory_vector": (("core_memory_add", ("text",)), ("core_memory_retrieve", ("query",))),
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
    """The data of all memory categories."""
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


class Asked:
    """A benchmark of one category, and what its questions are asked."""

    def __init__(self, root: Path, category: str = "memory_rec_sum", mode: str = "tools") -> None:
        task = benchmark("bfcl", {"categories": category, "mode": mode}, data_dir=root)
        assert isinstance(task, Bfcl)
        self.task = task
        self.source = source("bfcl", write_memories(root))
        self.samples = list(task.samples(self.source))

    async def ask(self, place: int, *replies: Message, repeat: int = 0) -> tuple[Outcome, Script]:
        """Asks a question of which all replies are given, those to the conversations before it first."""
        talk = Script(*replies)
        async with self.task.open() as solver:
            outcome = await solver.solve(Trial("t", self.samples[place], talk.target, repeat=repeat), talk)
        assert not talk._messages
        return outcome, talk

    async def score(self, place: int, outcome: Outcome) -> tuple[float | None, str | None]:
        """The score, and the official type of the error."""
        score = await self.task.scorers[0].score(self.samples[place], outcome, Script())
        return score.value, (score.detail or {}).get("error_type")
