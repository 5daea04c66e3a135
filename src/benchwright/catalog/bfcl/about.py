"""Metadata of BFCL and its variants."""

from __future__ import annotations

import msgspec

from benchwright.catalog.benchmark import About
from benchwright.catalog.bfcl.categories import CATEGORIES, FORMER_CATEGORY_NAMES, VECTOR_MEMORY_CATEGORY
from benchwright.data.dataset_spec import Dataset, HubRepository, Wheel

_SOURCES = ("gorilla_file_system", "math_api", "message_api", "posting_api", "ticket_api", "trading_bot")
API_MODULES = (
    *_SOURCES,
    "travel_booking",
    "vehicle_control",
    "memory_kv",
    VECTOR_MEMORY_CATEGORY,
    "memory_rec_sum",
)
"""Names of the modules whose Python classes multi-turn tasks execute.

The files with the JSON descriptions of the classes' functions have the same names.
"""

_ONE_FILE_EACH = tuple(name for name, one in CATEGORIES.items() if one.check_kind != "memory")
_ANSWERED = tuple(name for name in _ONE_FILE_EACH if "relevance" not in name)
_NAMES = (*_ONE_FILE_EACH, *FORMER_CATEGORY_NAMES)
_SCENARIOS = ("customer", "finance", "healthcare", "notetaker", "student")
_MEMORY = "BFCL_v4_memory.json"
_CONVERSATIONS = tuple(f"memory_prereq_conversation/memory_{name}.json" for name in _SCENARIOS)
_EXECUTABLE = "eval_checker/multi_turn_eval/func_source_code"

DATASET = Dataset(
    name="bfcl",
    splits={
        "test": tuple(f"bfcl_eval/data/BFCL_v4_{name}.json" for name in _ONE_FILE_EACH),
        "answers": tuple(f"bfcl_eval/data/possible_answer/BFCL_v4_{name}.json" for name in _ANSWERED),
        "functions": tuple(f"bfcl_eval/data/multi_turn_func_doc/{name}.json" for name in API_MODULES),
        "classes": tuple(f"bfcl_eval/{_EXECUTABLE}/{name}.py" for name in (*API_MODULES, "long_context")),
        "memory": (f"bfcl_eval/data/{_MEMORY}",),
        "memory_answers": (f"bfcl_eval/data/possible_answer/{_MEMORY}",),
        "conversations": tuple(f"bfcl_eval/data/{path}" for path in _CONVERSATIONS),
    },
    origin=Wheel(
        project="bfcl-eval",
        version="2026.3.23",
        sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    ),
    licence="Apache-2.0",
    local={
        "test": tuple(f"BFCL_v[34]_{name}.json" for name in _NAMES),
        "answers": tuple(f"possible_answer/BFCL_v[34]_{name}.json" for name in _NAMES),
        "functions": ("multi_turn_func_doc/*.json",),
        "classes": ("func_source_code/*.py",),
        "memory": (_MEMORY,),
        "memory_answers": (f"possible_answer/{_MEMORY}",),
        "conversations": _CONVERSATIONS,
    },
    json_lines=True,
)
"""The dataset: version 4 in the layout of its package. Local files may also be in version 3's layout."""

_MODEL_NAME = "all-MiniLM-L6-v2"
EMBEDDING_MODEL = Dataset(
    name=_MODEL_NAME,
    splits={
        "test": (
            "model.safetensors",
            "config.json",
            "config_sentence_transformers.json",
            "modules.json",
            "sentence_bert_config.json",
            "special_tokens_map.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "1_Pooling/config.json",
        )
    },
    origin=HubRepository(f"sentence-transformers/{_MODEL_NAME}", kind="model"),
    licence="Apache-2.0",
)
"""The model by which the category memory_vector searches. `fetch` skips it, because only that category needs it."""

PUBLISHED_WEIGHTS_DIGEST = "340d94e989ceea9234cb29e344fee166"
"""The xxh3 digest (128 bits) of the embedding model's `model.safetensors`.

Every commit of the model's repository on the hub contains this same file.
"""

BFCL = About(
    name="bfcl",
    title="BFCL",
    description="BFCL — 4,441 function-calling tasks, single- and multi-turn, by the official checkers",
    tier=3,
    items=4_441,
    licence="Apache-2.0",
    protocol="native tool calls (or --option mode=prompt) at temperature 0.001; calls compared with possible "
    "answers by type and value, multi-turn ones executed and compared by state; memory where it is asked for; "
    "without web search",
    source="https://github.com/ShishirPatil/gorilla (berkeley-function-call-leaderboard, bfcl-eval 2026.3.23)",
    dataset=DATASET,
    version="3",
    max_tokens=4096,
    temperature=0.001,
    breakdowns=("group", "category"),
    options={
        "categories": "Only these categories or groups (non_live, live, multi_turn, memory, all), with commas between.",
        "mode": "How functions are offered: tools (native tool calls) or prompt (in the system prompt, as text).",
    },
    needs=("tools", "sandbox"),
)

BFCL_DOCUMENTED = msgspec.structs.replace(
    BFCL,
    variant="documented",
    description="BFCL, single turn, one expected answer, as llm-benchmarker documents it",
    protocol="native tool calls, or calls read from the text; equal to the first possible answer in any order",
    source="llm-benchmarker's documentation",
    items=3_625,
    version="1",
    departures=("one expected answer in place of all possible ones",),
    max_tokens=512,
    smaller_max_tokens=True,
    temperature=0.0,
    options={name: BFCL.options[name] for name in ("categories",)},
    needs=("tools",),
)

VARIANTS = (BFCL, BFCL_DOCUMENTED)
