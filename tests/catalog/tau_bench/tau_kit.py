"""A small shop and a small airline, written by hand, in both layouts; and a session with tool calls."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypedDict

from tests.catalog.catalog_kit import benchmark, source, write_rows

from benchwright.catalog.tau_bench.airline import AIRLINE_DOMAIN
from benchwright.catalog.tau_bench.environment import DomainEnvironment
from benchwright.catalog.tau_bench.retail import RETAIL_DOMAIN
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.records import Message, Outcome, Sample, Target, Trial

CARD, GIFT_CARD = "credit_card_1", "gift_card_2"

RETAIL_TABLES: dict[str, dict[str, Any]] = {
    "orders": {
        "#W1": {
            "order_id": "#W1",
            "user_id": "ana_1",
            "address": {"zip": "10001"},
            "items": [
                {"name": "Mug", "product_id": "p1", "item_id": "red", "price": 10.0, "options": {"c": "r"}},
                {"name": "Mug", "product_id": "p1", "item_id": "blue", "price": 12.5, "options": {"c": "b"}},
            ],
            "status": "pending",
            "payment_history": [
                {"transaction_type": "payment", "amount": 22.5, "payment_method_id": GIFT_CARD}
            ],
        },
        "#W2": {
            "order_id": "#W2",
            "user_id": "ana_1",
            "address": {"zip": "10001"},
            "items": [
                {"name": "Mug", "product_id": "p1", "item_id": "red", "price": 10.0, "options": {"c": "r"}}
            ],
            "status": "delivered",
            "payment_history": [{"transaction_type": "payment", "amount": 10.0, "payment_method_id": CARD}],
        },
    },
    "products": {
        "p1": {
            "name": "Mug",
            "product_id": "p1",
            "variants": {
                "red": {"item_id": "red", "options": {"c": "r"}, "available": True, "price": 10.0},
                "blue": {"item_id": "blue", "options": {"c": "b"}, "available": True, "price": 12.5},
                "gold": {"item_id": "gold", "options": {"c": "g"}, "available": True, "price": 99.99},
                "grey": {"item_id": "grey", "options": {"c": "y"}, "available": False, "price": 9.0},
            },
        }
    },
    "users": {
        "ana_1": {
            "name": {"first_name": "Ana", "last_name": "Silva"},
            "address": {"address1": "1 Road", "zip": "10001"},
            "email": "ana@example.com",
            "payment_methods": {
                CARD: {"source": "credit_card", "id": CARD},
                GIFT_CARD: {"source": "gift_card", "balance": 20.0, "id": GIFT_CARD},
            },
            "orders": ["#W1", "#W2"],
        }
    },
}


def _day(price: int, seats: int = 9, status: str = "available") -> dict[str, Any]:
    cabins = ("basic_economy", "economy", "business")
    return {
        "status": status,
        "available_seats": dict.fromkeys(cabins, seats),
        "prices": {"basic_economy": price, "economy": price + 50, "business": price + 200},
    }


def _flight(
    number: str, origin: str, destination: str, leaves: str, lands: str, **dates: Any
) -> dict[str, Any]:
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": {f"2024-05-{day[1:]}": known for day, known in dates.items()},
    }


AIRLINE_TABLES: dict[str, dict[str, Any]] = {
    "flights": {
        "HAT1": _flight("HAT1", "JFK", "SEA", "06:00:00", "12:00:00", d20=_day(100), d21=_day(1, 0)),
        "HAT2": _flight("HAT2", "JFK", "ATL", "07:00:00", "09:00:00", d20=_day(40), d21=_day(41)),
        "HAT3": _flight("HAT3", "ATL", "SEA", "22:00:00", "03:00:00+1", d20=_day(50), d21=_day(51)),
        "HAT4": _flight("HAT4", "JFK", "ATL", "20:00:00", "02:00:00+1", d20=_day(30)),
        "HAT5": _flight("HAT5", "SEA", "JFK", "06:00:00", "12:00:00", d20=_day(70, status="delayed")),
    },
    "reservations": {
        "R1": {
            "reservation_id": "R1",
            "user_id": "bo_2",
            "origin": "JFK",
            "destination": "SEA",
            "cabin": "economy",
            "flights": [
                {
                    "flight_number": "HAT1",
                    "date": "2024-05-20",
                    "price": 120,
                    "origin": "JFK",
                    "destination": "SEA",
                }
            ],
            "passengers": [{"first_name": "Bo", "last_name": "Li", "dob": "1990-01-01"}],
            "payment_history": [{"payment_id": CARD, "amount": 120}],
            "total_baggages": 0,
            "nonfree_baggages": 0,
        }
    },
    "users": {
        "bo_2": {
            "name": {"first_name": "Bo", "last_name": "Li"},
            "payment_methods": {
                CARD: {"source": "credit_card", "id": CARD},
                GIFT_CARD: {"source": "gift_card", "amount": 60, "id": GIFT_CARD},
                "certificate_3": {"source": "certificate", "amount": 100, "id": "certificate_3"},
            },
            "reservations": ["R1"],
        }
    },
}

DOMAINS = {"airline": AIRLINE_DOMAIN, "retail": RETAIL_DOMAIN}
TABLES = {"airline": AIRLINE_TABLES, "retail": RETAIL_TABLES}


class Action(TypedDict):
    """A call that a task's reference solution makes."""

    name: str
    kwargs: dict[str, Any]


CANCEL: Action = {"name": "cancel_pending_order", "kwargs": {"order_id": "#W1", "reason": "no longer needed"}}
NEW_BAGS: Action = {
    "name": "update_reservation_baggages",
    "kwargs": {"reservation_id": "R1", "total_baggages": 1, "nonfree_baggages": 1, "payment_id": CARD},
}


def task(domain: str = "retail", index: int = 0, **fields: Any) -> dict[str, Any]:
    """A row of a tasks file; by default Ana wants an order cancelled and to be told what it cost."""
    retail = {"user_id": "ana_1", "actions": [CANCEL], "outputs": ["1022.5"]}
    airline = {"user_id": "bo_2", "actions": [NEW_BAGS], "outputs": []}
    usual = retail if domain == "retail" else airline
    row = {"domain": domain, "split": "test", "task_index": index, "instruction": "Cancel the mugs."}
    return {**row, **usual, **fields}


def schema(name: str) -> dict[str, Any]:
    """A tool's schema, as far as tests need one."""
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": {}}}


def write_plain(directory: Path, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """The small worlds in plain files, with these test tasks (default: one of each domain)."""
    for domain in ("airline", "retail"):
        of_domain = [row for row in (rows or [task(), task("airline")]) if row["domain"] == domain]
        write_rows(directory / f"{domain}_test_tasks.jsonl", of_domain)
        (directory / f"{domain}_wiki.md").write_text(f"# {domain} policy\n")
        (directory / f"{domain}_tools.json").write_text(json.dumps([schema("calculate"), schema("think")]))
        for table, records in TABLES[domain].items():
            packed = gzip.compress(json.dumps(records).encode())
            (directory / f"{domain}_{table}.json.gz").write_bytes(packed)
    return directory


def write_checkout(directory: Path) -> Path:
    """The same as a checkout of the repository; its Python files would fail if they were run."""
    for domain in ("airline", "retail"):
        row = task(domain)
        actions = ", ".join(f"Action(name={a['name']!r}, kwargs={a['kwargs']!r})" for a in row["actions"])
        written = (
            "from nowhere import Task, Action\n"
            f"TASKS = [Task(annotator='', user_id={row['user_id']!r}, instruction=({row['instruction']!r}),"
            f" actions=[{actions}], outputs={row['outputs']!r})]\n"
        )
        folder = directory / "tau_bench" / "envs" / domain
        (folder / "tools").mkdir(parents=True)
        (folder / "data").mkdir()
        (folder / "tasks_test.py").write_text(written)
        (folder / "wiki.md").write_text(f"# {domain} policy\n")
        for table, records in TABLES[domain].items():
            (folder / "data" / f"{table}.json").write_text(json.dumps(records))
        for name in ("think", "calculate"):
            (folder / "tools" / f"{name}.py").write_text(
                "from nowhere import Tool\n"
                f"class {name.title()}(Tool):\n"
                "    def invoke(data): raise SystemExit\n"
                f"    def get_info():\n        return {schema(name)!r}\n"
            )
        (folder / "tools" / "__init__.py").write_text(
            "from .think import Think\nALL_TOOLS = [Calculate, Think]\nraise SystemExit\n"
        )
    return directory


def world(domain: str) -> DomainEnvironment:
    """A small world."""
    return DomainEnvironment(
        DOMAINS[domain], f"# {domain} policy\n", [schema("calculate")], TABLES[domain], "small"
    )


def sample(
    directory: Path, row: Mapping[str, Any] | None = None, name: str = "tau_bench"
) -> tuple[Any, Sample]:
    """A benchmark over plain files with one task, and its sample."""
    made = benchmark(name)
    (only,) = made.samples(source(name, write_plain(directory, [row or task()])))
    return made, only


def call(name: str, arguments: Mapping[str, Any] | str, number: int = 1) -> dict[str, Any]:
    """One tool call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}


def calling(*calls: dict[str, Any], said: str | None = None) -> Message:
    """An answer with tool calls."""
    return {"role": "assistant", "content": said, "tool_calls": list(calls)}


def saying(text: str) -> Message:
    """An answer without."""
    return {"role": "assistant", "content": text}


class Desk:
    """A session: the agent and the customer say their lines in turn, the last one again; all is remembered."""

    def __init__(
        self, agent: Sequence[Message], customer: Sequence[str | Message] = ("Hello.", "###STOP###")
    ) -> None:
        self.target = Target("primary", "some-model", "http://127.0.0.1:1/v1")
        self.asked: list[tuple[str, list[Message], dict[str, Any]]] = []
        self._lines = {
            "model": list(agent),
            "user": [saying(line) if isinstance(line, str) else line for line in customer],
        }

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append((role, list(messages), params | ({"slot": slot} if slot else {})))
        lines = self._lines[role]
        message = lines.pop(0) if len(lines) > 1 else lines[0]
        return Reply(message, message.get("content") or "", tool_calls=message.get("tool_calls") or [])

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise AssertionError("tau-bench chats")

    async def count_tokens(self, text: str) -> int | None:
        return None

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        raise AssertionError("tau-bench asks itself")

    def progress(self, text: str) -> None:
        return None


async def played(made: Any, one: Sample, desk: Desk) -> Outcome:
    """A conversation of a benchmark."""
    async with made.open() as solver:
        outcome: Outcome = await solver.solve(Trial("t", one, desk.target), desk)
        return outcome


async def reward(made: Any, one: Sample, desk: Desk) -> tuple[float, Mapping[str, Any]]:
    """Score and details of a conversation."""
    outcome = await played(made, one, desk)
    score = await made.scorers[0].score(one, outcome, desk)
    return score.value, score.detail
