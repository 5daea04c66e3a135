"""Metadata of tau2-bench: domains, data files, options."""

from __future__ import annotations

from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, GitRepository

COMMIT = "a2c024725189473d2d7cea3a5cfdbcc67478e41f"

DOMAINS = ("airline", "retail", "telecom", "banking_knowledge", "mock")
DEFAULT_DOMAINS = ("airline", "retail", "telecom")
"""The domains that are evaluated unless the user names others."""

SPLITS = ("base", "test", "train", "small")

RETRIEVAL_METHODS = (
    *("alltools", "alltools-qwen", "terminal_use", "terminal_use_write"),
    *("openai_embeddings", "openai_embeddings_grep", "qwen_embeddings", "qwen_embeddings_grep"),
    *("bm25", "bm25_grep", "grep_only", "full_kb", "golden_retrieval", "no_knowledge"),
)
"""The names of the authors' methods for retrieving documents of banking_knowledge.

The first method is the default.
"""

SHELL_RETRIEVAL_METHODS = ("alltools", "alltools-qwen", "terminal_use", "terminal_use_write")
"""The retrieval methods that give the model a shell."""

OPENAI, QWEN = "text-embedding-3-large", "qwen3-embedding-8b"
EMBEDDING_MODELS = {
    **dict.fromkeys(("alltools", "openai_embeddings", "openai_embeddings_grep"), OPENAI),
    **dict.fromkeys(("alltools-qwen", "qwen_embeddings", "qwen_embeddings_grep"), QWEN),
}
"""Mapping from a retrieval method to the authors' embedding model, for methods that need one."""

AGENT_MODES = ("default", "solo")
SOLO_DOMAINS = ("telecom", "mock")
"""The domains with tasks that an agent can do without a user, from a ticket.

The authors published results for the first domain.
"""

POLICY_VERSIONS = ("manual", "workflow")
"""The versions of telecom's policy: technical support as a manual, or as a workflow."""

_DATA = "data/tau2/domains"
_CODE = "src/tau2"

_FILES = {
    "test": (
        *(f"{_DATA}/{domain}/tasks.json" for domain in (*DEFAULT_DOMAINS, "mock")),
        f"{_DATA}/banking_knowledge/tasks/task_*.json",
    ),
    "splits": tuple(f"{_DATA}/{domain}/split_tasks.json" for domain in (*DEFAULT_DOMAINS, "mock")),
    "worlds": (
        *(
            f"{_DATA}/{domain}/{name}"
            for domain in ("airline", "retail", "mock")
            for name in ("db.json", "policy.md")
        ),
        *(f"{_DATA}/mock/{name}" for name in ("user_db.json", "policy_solo.md")),
        *(f"{_DATA}/telecom/{name}" for name in ("db.toml", "user_db.toml", "tech_support_manual.md")),
        *(f"{_DATA}/telecom/main_policy{end}.md" for end in ("", "_solo")),
        *(f"{_DATA}/telecom/tech_support_workflow{end}.md" for end in ("", "_solo")),
        f"{_DATA}/banking_knowledge/db.json",
        f"{_DATA}/banking_knowledge/documents/*.json",
        f"{_DATA}/banking_knowledge/prompts/*.md",
        f"{_DATA}/banking_knowledge/prompts/components/*.md",
    ),
    "code": (
        *(f"{_CODE}/{name}.py" for name in ("config", "voice_config")),
        *(
            f"{_CODE}/{folder}/*.py"
            for folder in ("data_model", "environment", "utils", "domains", "domains/*")
        ),
        *(f"{_CODE}/{folder}/*.py" for folder in ("knowledge", "knowledge/document_preprocessors")),
        f"{_CODE}/knowledge/retrievers/*.py",
    ),
    "user": (
        "data/tau2/user_simulator/simulation_guidelines.md",
        "data/tau2/user_simulator/simulation_guidelines_tools.md",
    ),
}

DATASET = Dataset(
    name="tau2_bench",
    splits=_FILES,
    origin=GitRepository("https://github.com/sierra-research/tau2-bench", COMMIT, whole=False),
    licence="MIT",
    local=_FILES,
)
"""The dataset: tasks, databases, policies, and the authors' code of the domains, which runs in the sandbox.

Only some folders of the repository are needed.
"""

TAU2_BENCH = About(
    name="tau2_bench",
    title="τ²-bench",
    description="τ²-bench 1.0.1 — 278 tasks of customer service in three domains; agent and user have tools",
    tier=3,
    items=278,
    licence="MIT",
    protocol="tool-calling agent with the policy as system prompt, simulated user with tools of its own, at most 200 "
    "steps and 10 failed calls; the product of the parts that a task is rewarded for (release 1.0.1)",
    source=f"https://github.com/sierra-research/tau2-bench ({COMMIT[:7]}, release 1.0.1); arXiv:2506.07982",
    dataset=DATASET,
    metric="reward",
    max_tokens=16_384,
    departures=("up to 16,384 tokens for each answer; the authors leave the limit to each provider",),
    breakdowns=("domain",),
    options={
        "domain": "Only these domains, with commas between: airline, retail, telecom, banking_knowledge, mock.",
        "split": "The tasks of base, or of test, train or small (20, of telecom only).",
        "retrieval": f"How documents of banking_knowledge are found: {', '.join(RETRIEVAL_METHODS)}.",
        "mode": "default: the agent talks with a user. solo: it works alone from a ticket (telecom, mock).",
        "policy": "How telecom's policy describes technical support: manual (default), workflow.",
    },
    roles=("user", "judge", "embedding"),
    needs=("tools", "sandbox"),
)

VARIANTS = (TAU2_BENCH,)
