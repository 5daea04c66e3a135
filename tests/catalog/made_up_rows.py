"""Made-up rows of every benchmark of the catalog, laid out as on the hub. None of them is from a real dataset."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.catalog.bfcl.bfcl_kit import WEATHER, turn, write_category
from tests.catalog.catalog_kit import write_rows
from tests.catalog.livecodebench.lcb_kit import method_row, row
from tests.catalog.tau2_bench.tau2_kit import cancelling, going_online, write_shop
from tests.catalog.tau_bench.tau_kit import task, write_plain
from tests.drawn import hub, png

COUNT = 4
"""Rows of each benchmark."""

Write = Callable[[Path], Any]


def mmlu(directory: Path) -> None:
    rows = [
        {"question": f"Which is it, {number}?", "subject": "anatomy" if number % 2 else "virology",
         "choices": [f"{number} and {place}" for place in range(4)], "answer": number % 4}
        for number in range(COUNT)
    ]  # fmt: skip
    write_rows(directory / "test.jsonl", rows)
    write_rows(directory / "dev.jsonl", [row | {"question": f"Once: {row['question']}"} for row in rows])


def mmlu_pro(directory: Path) -> None:
    rows = [
        {"question_id": number, "question": f"Which of the ten, {number}?", "category": "law",
         "options": [f"{number} with {place}" for place in range(10)], "answer": "ABCDEFGHIJ"[number],
         "answer_index": number, "cot_content": ""}
        for number in range(COUNT)
    ]  # fmt: skip
    shots = [row | {"cot_content": f"A: Let's think. The answer is ({row['answer']})."} for row in rows]
    write_rows(directory / "test.jsonl", rows)
    write_rows(directory / "validation.jsonl", shots)


def mmmu_pro(directory: Path) -> None:
    rows = [
        {"id": f"test_Music_{number}", "question": f"Which chord does <image 1> show, {number}?",
         "options": f"['chord {number}', 'none', '<image 2>']", "image_1": hub(png(number)),
         "image_2": hub(png(99)), "img_type": "['Music']", "answer": "ABC"[number % 3],
         "topic_difficulty": "Easy", "subject": "Music"}
        for number in range(COUNT)
    ]  # fmt: skip
    pictures = [{key: row[key] for key in ("id", "options", "answer", "subject")} for row in rows]
    write_rows(directory / "standard.jsonl", rows)
    # A script sees no images: its one answer to all of these is right but for the second.
    write_rows(
        directory / "vision.jsonl",
        [
            row | {"image": hub(png(100 + number)), "answer": "B" if number == 1 else "A"}
            for number, row in enumerate(pictures)
        ],
    )


def humaneval(directory: Path) -> None:
    write_rows(
        directory / "test.jsonl",
        [
            {"task_id": f"HumanEval/{number}", "entry_point": f"add_{number}",
             "prompt": f'def add_{number}(x):\n    """Adds {number} to x."""\n',
             "canonical_solution": f"    return x + {number}\n",
             "test": f"def check(candidate):\n    assert candidate(1) == {number + 1}\n"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def ifeval(directory: Path) -> None:
    instructions: list[tuple[str, dict[str, Any]]] = [
        ("punctuation:no_comma", {}),
        ("keywords:existence", {"keywords": ["cloud", "rain"]}),
        ("startend:quotation", {}),
        ("detectable_format:number_bullet_lists", {"num_bullets": 3}),
    ]
    write_rows(
        directory / "train.jsonl",
        [
            {"key": number, "prompt": f"Write about the weather, number {number}.",
             "instruction_id_list": [name], "kwargs": [given]}
            for number, (name, given) in enumerate(instructions)
        ],
    )  # fmt: skip


def ifbench(directory: Path) -> None:
    instructions: list[tuple[str, dict[str, Any]]] = [
        ("format:list", {"sep": "!?!?"}),
        ("count:numbers", {"N": 3.0}),
        ("format:output_template", {}),
        ("sentence:keyword", {"word": "cloud", "N": 2.0}),
    ]
    write_rows(
        directory / "train.jsonl",
        [
            {"key": str(number), "prompt": f"Tell me of the sea, number {number}.",
             "instruction_id_list": [name], "kwargs": [given]}
            for number, (name, given) in enumerate(instructions)
        ],
    )  # fmt: skip


def livecodebench(directory: Path) -> None:
    rows = [row(f"abc{number}_a") for number in range(COUNT - 1)]
    write_rows(directory / "test.jsonl", [*rows, method_row()])


def multichallenge(directory: Path) -> None:
    rows = [
        {"QUESTION_ID": f"mc{number}", "AXIS": ["INFERENCE_MEMORY", "SELF_COHERENCE"][number % 2],
         "CONVERSATION": [{"role": "user", "content": f"I am {number + 20} years old."},
                          {"role": "assistant", "content": "Noted."},
                          {"role": "user", "content": "How old am I in a year?"}],
         "TARGET_QUESTION": f"Does it say {number + 21}?", "PASS_CRITERIA": "YES"}
        for number in range(COUNT)
    ]  # fmt: skip
    for place in (directory, directory.with_name("multichallenge_hub")):
        write_rows(place / "test.jsonl", rows)


def aa_lcr(directory: Path) -> None:
    rows = []
    for number in range(COUNT):
        rows.append(
            {"document_category": "Legal", "document_set_id": f"set{number}", "question_id": str(number),
             "question": f"What is the fee of {number}?", "answer": f"{number + 40} crowns",
             "data_source_filenames": "second.txt;first.txt"}
        )  # fmt: skip
        for name in ("first", "second"):
            path = directory / "extracted_text" / "lcr" / "Legal" / f"set{number}" / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The {name} act of {number}.", encoding="utf-8")
    write_csv(directory / "AA-LCR_Dataset.csv", rows)


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def hle(directory: Path) -> None:
    write_rows(
        directory / "test.jsonl",
        [
            {"id": f"q{number}", "question": f"What is the hardest number after {number}?", "image": "",
             "answer": f"{number * 7}", "answer_type": "exactMatch", "category": "Math"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def longbench_v2(directory: Path) -> None:
    write_rows(
        directory / "train.jsonl",
        [
            {"_id": f"long{number}", "domain": "Novels", "sub_domain": "", "difficulty": ["easy", "hard"][number % 2],
             "length": ["short", "medium", "long"][number % 3], "question": f"Who came, {number}?",
             "choice_A": "Ada", "choice_B": "Bo", "choice_C": "Cy", "choice_D": "Di", "answer": "ABCD"[number],
             "context": f"In chapter {number} somebody came. " * 40}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def graphwalks(directory: Path) -> None:
    nodes = [f"{number:010x}" for number in range(100, 110)]
    write_rows(
        directory / "train.jsonl",
        [
            {"prompt": f"The graph has these edges:\n{nodes[number]} -> {nodes[number + 1]}\n\nOperation:\n"
                       f"Perform a BFS from node {nodes[number]} with depth 1.\n",
             "answer_nodes": [nodes[number + 1]], "problem_type": "bfs", "prompt_chars": 120}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def mrcr(directory: Path) -> None:
    def conversation(number: int) -> str:
        messages = [
            {"role": "user", "content": f"Here are some examples of conversations, {number}. Write a poem."},
            {"role": "assistant", "content": f"A poem about the number {number}."},
            {"role": "user", "content": f"Prepend abcdefghi{number} to the 1st (1 indexed) poem."},
        ]
        return json.dumps(messages)

    write_rows(
        directory / "train.jsonl",
        [
            {"prompt": conversation(number), "random_string_to_prepend": f"abcdefghi{number}",
             "answer": f"abcdefghi{number}A poem about the number {number}.", "n_needles": 2, "n_chars": 20_000}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def multi_if(directory: Path) -> None:
    no_comma: tuple[str, dict[str, Any]] = ("punctuation:no_comma", {})
    cloud = ("keywords:existence", {"keywords": ["cloud"]})

    def row(number: int) -> dict[str, str]:
        made = {"turns": "", "responses": "", "key": f"{number}:1:en", "language": "English"}
        for turn_number, asked in enumerate(([no_comma], [no_comma, cloud], None), 1):
            prompt = {"role": "user", "content": f"Story {number}, turn {turn_number}."}
            made[f"turn_{turn_number}_prompt"] = "None" if asked is None else json.dumps(prompt)
            made[f"turn_{turn_number}_instruction_id_list"] = json.dumps([name for name, _ in asked or []])
            made[f"turn_{turn_number}_kwargs"] = json.dumps([json.dumps(given) for _, given in asked or []])
        return made

    rows = [row(number) for number in range(COUNT)]
    directory.mkdir(parents=True, exist_ok=True)
    write_csv(directory / "multiIF_20241018.csv", rows)


def bfcl(directory: Path) -> None:
    rows, answers = [], []
    for number in range(COUNT):
        identity = f"simple_python_{number}"
        rows.append(
            {"id": identity, "question": [turn(f"The weather of {number} days?")], "function": [WEATHER]}
        )
        call: Mapping[str, Any] = {"weather.now": {"city": ["Oslo"], "days": [number], "above": [""]}}
        answers.append({"id": identity, "ground_truth": [call]})
    write_category(directory, 4, "simple_python", rows, answers)


def tau_bench(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    tasks = [
        task("retail", number, instruction=f"You want the mugs of order {number} cancelled.")
        for number in range(2)
    ]
    tasks += [task("airline", number, instruction=f"You want more bags, {number}.") for number in range(2)]
    write_plain(directory, tasks)


def tau2_bench(directory: Path) -> None:
    phones = [going_online(f"phone {number}") for number in range(2)]
    write_shop(directory, airline=[cancelling("a")], retail=[cancelling("r")], telecom=phones)


def gpqa_diamond(directory: Path) -> None:
    write_rows(
        directory / "train.jsonl",
        [
            {"Question": f"Which particle is it, {number}?\n", "Correct Answer": f"{number} right",
             "Incorrect Answer 1": f"{number} wrong", "Incorrect Answer 2": f"{number} worse",
             "Incorrect Answer 3": f"{number} worst", "High-level domain": "Physics", "Record ID": f"rec{number}"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def aime_2025(directory: Path) -> None:
    write_rows(
        directory / "train.jsonl",
        [
            {"problem_idx": number, "problem": f"What is ${number} + 30$?", "answer": number + 30}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def aime_2026(directory: Path) -> None:
    aime_2025(directory)


def hmmt(directory: Path) -> None:
    rows = [
        {"problem_idx": number, "problem": f"What is half of ${number}+\\sqrt3$?",
         "answer": f"\\frac{{{number}+\\sqrt{{3}}}}{{2}}", "problem_type": ["Algebra"]}
        for number in range(COUNT)
    ]  # fmt: skip
    for place in (
        directory,
        *(directory.with_name(f"hmmt_{session}") for session in ("nov_2025", "feb_2025")),
    ):
        write_rows(place / "train.jsonl", rows)


def simpleqa(directory: Path) -> None:
    write_rows(
        directory / "test.jsonl",
        [
            {"problem": f"How many towers has the {number}th town?", "answer": f"{number + 30} towers",
             "metadata": "{'topic': 'Geography', 'answer_type': 'Number', 'urls': []}"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def simpleqa_verified(directory: Path) -> None:
    write_rows(
        directory / "eval.jsonl",
        [
            {"original_index": number, "problem": f"How many doors has the {number}th house?",
             "answer": f"{number + 50} doors", "topic": "Other", "answer_type": "Number"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


def arc_agi_1(directory: Path) -> None:
    for number in range(COUNT):
        pairs = [{"input": [[number, place]], "output": [[place, number]]} for place in range(4, 7)]
        path = directory / "evaluation" / f"{number}{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"train": pairs[:2], "test": pairs[2:]}), encoding="utf-8")


def arc_agi_2(directory: Path) -> None:
    arc_agi_1(directory)


def math_500(directory: Path) -> None:
    write_rows(
        directory / "test.jsonl",
        [
            {"problem": f"What is the square root of ${number + 2}$?", "answer": f"\\sqrt{{{number + 2}}}",
             "solution": "", "subject": "Algebra", "level": number + 1, "unique_id": f"test/algebra/{number}.json"}
            for number in range(COUNT)
        ],
    )  # fmt: skip


WRITERS: Mapping[str, Write] = {
    write.__name__: write
    for write in (
        *(bfcl, graphwalks, hle, humaneval, ifeval, longbench_v2, mmlu, mmlu_pro, mrcr, multi_if),
        *(tau_bench, aime_2025, aime_2026, arc_agi_1, arc_agi_2, gpqa_diamond, hmmt, math_500, simpleqa),
        *(simpleqa_verified, ifbench, livecodebench, mmmu_pro, multichallenge, aa_lcr, tau2_bench),
    )
}


def write_all(data: Path, names: Sequence[str] = tuple(WRITERS)) -> Path:
    """Lays the rows of these benchmarks into a data directory."""
    for name in names:
        WRITERS[name](data / name)
    return data
