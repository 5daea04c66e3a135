"""Every benchmark tells each sample's own question and the answer that is expected, as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalog.catalog_kit import samples
from tests.catalog.made_up_rows import WRITERS

from benchwright.catalog.registry import list_abouts

SECOND = {
    "aa_lcr": ("What is the fee of 1?", "41 crowns"),
    "aime_2025": ("What is $1 + 30$?", "31"),
    "aime_2026": ("What is $1 + 30$?", "31"),
    "arc_agi_1": (
        "Example 0:\n1 4\n->\n4 1\n\nExample 1:\n1 5\n->\n5 1\n\nTest input 0:\n1 6",
        "6 1",
    ),
    "arc_agi_2": (
        "Example 0:\n1 4\n->\n4 1\n\nExample 1:\n1 5\n->\n5 1\n\nTest input 0:\n1 6",
        "6 1",
    ),
    "bfcl": ("The weather of 1 days?", 'weather.now(city="Oslo", days=1, above=nothing)'),
    "gpqa_diamond": (
        "Which particle is it, 1?\n\n\nA. 1 worst\nB. 1 wrong\nC. 1 worse\nD. 1 right",
        "1 right",
    ),
    "graphwalks": ("Perform a BFS from node 0000000065 with depth 1.", "0000000066"),
    "hmmt": ("What is half of $1+\\sqrt3$?", "\\frac{1+\\sqrt{3}}{2}"),
    "hle": ("What is the hardest number after 1?", "7"),
    "humaneval": ('def add_1(x):\n    """Adds 1 to x."""\n', "    return x + 1\n"),
    "ifeval": ("Write about the weather, number 1.", "keywords:existence (keywords: ['cloud', 'rain'])"),
    "ifbench": ("Tell me of the sea, number 1.", "count:numbers (N: 3.0)"),
    "livecodebench": ("Print the sum, abc1_a.", "1 2\n->\n3"),
    "longbench_v2": ("Who came, 1?\n\nA. Ada\nB. Bo\nC. Cy\nD. Di", "B"),
    "math_500": ("What is the square root of $3$?", "\\sqrt{3}"),
    "mmlu": ("Which is it, 1?\n\nA. 1 and 0\nB. 1 and 1\nC. 1 and 2\nD. 1 and 3", "B"),
    "mmmu_pro": ("Which chord does <image 1> show, 1?\n\nA. chord 1\nB. none\nC. <image 2>", "B"),
    "mmmu_pro:vision": ("(The question is in the image.)\n\nA. chord 1\nB. none\nC. <image 2>", "B"),
    "multichallenge": (
        "user: I am 21 years old.\n\nassistant: Noted.\n\nuser: How old am I in a year?",
        "YES: Does it say 22?",
    ),
    "mmlu_pro": (
        "Which of the ten, 1?\n\n"
        + "\n".join(f"{letter}. 1 with {n}" for n, letter in enumerate("ABCDEFGHIJ")),
        "B",
    ),
    "mrcr": (
        "Prepend abcdefghi1 to the 1st (1 indexed) poem.",
        "abcdefghi1A poem about the number 1.",
    ),
    "multi_if": (
        "Turn 1: Story 1, turn 1.\n\nTurn 2: Story 1, turn 2.",
        "Turn 1: punctuation:no_comma\n\nTurn 2: punctuation:no_comma\nkeywords:existence (keywords: ['cloud'])",
    ),
    "simpleqa": ("How many towers has the 1th town?", "31 towers"),
    "simpleqa_verified": ("How many doors has the 1th house?", "51 doors"),
    "tau2_bench": (
        "You want the order of r cancelled.",
        'DB × COMMUNICATE\nassistant: cancel_order({"order": "1"})\ntells the user: 12',
    ),
    "tau_bench": (
        "You want more bags, 1.",
        'update_reservation_baggages({"reservation_id": "R1", "total_baggages": 1, "nonfree_baggages": 1, '
        '"payment_id": "credit_card_1"})',
    ),
}
"""Input and target of the second made-up row of each benchmark, in all its variants."""


@pytest.mark.parametrize("name", [one.full_name for one in list_abouts() if "containers" not in one.needs])
def test_a_sample_tells_its_own_question_and_what_is_expected(name: str, tmp_path: Path) -> None:
    room = name.partition(":")[0]
    WRITERS[room](tmp_path / room)
    found = samples(name, tmp_path / room)
    assert (found[1].input, found[1].target) == SECOND.get(name, SECOND[room])
    assert len({sample.input for sample in found}) == len(found), "none is what all prompts have in common"
    assert all(sample.target for sample in found)
