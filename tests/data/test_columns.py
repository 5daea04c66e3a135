"""Which columns a row needs, under which names, and what is said when they are not there."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.data.columns import PromptColumns, documented_row, lettered_options
from benchwright.data.errors import DatasetValidationError

Row = dict[str, Any]

GOOD: Row = {"ground_truth": "4", "user_prompt": "2 + 2?", "system_prompt": "Be brief."}


def refusal_of(row: Row) -> str:
    with pytest.raises(DatasetValidationError) as caught:
        documented_row(row, 7)
    return str(caught.value)


class TestDocumentedRow:
    def test_a_good_row_stays_as_it_is(self) -> None:
        assert documented_row(GOOD, 0) == GOOD

    def test_columns_are_found_in_any_case_and_renamed_to_lower_case(self) -> None:
        row = {"Ground_Truth": "4", "USER_PROMPT": "2 + 2?", "System_prompt": "Be brief."}
        assert documented_row(row, 0) == GOOD

    def test_other_columns_keep_their_names_and_values(self) -> None:
        assert documented_row({**GOOD, "Topic": ["sums"]}, 0)["Topic"] == ["sums"]

    def test_missing_columns_are_listed(self) -> None:
        message = "Row 7: Missing required columns: ['ground_truth', 'system_prompt']"
        assert refusal_of({"user_prompt": "q", "answer": "4"}) == message

    @pytest.mark.parametrize("column", GOOD)
    @pytest.mark.parametrize(
        ("value", "complaint"),
        [
            (None, "cannot be null"),
            (4, "must be a string, got int"),
            (["4"], "must be a string, got list"),
            ("", "cannot be empty"),
            (" \n", "cannot be empty"),
        ],
    )
    def test_each_column_must_hold_text(self, column: str, value: Any, complaint: str) -> None:
        assert refusal_of({**GOOD, column: value}) == f"Row 7: '{column}' {complaint}"

    def test_a_renamed_column_is_told_by_its_documented_name(self) -> None:
        row = {**GOOD, "User_Prompt": 1}
        del row["user_prompt"]
        assert refusal_of(row) == "Row 7: 'user_prompt' must be a string, got int"


class TestFindingColumns:
    @pytest.mark.parametrize(
        ("columns", "found"),
        [
            ("question answer", PromptColumns("question", "answer")),
            ("problem solution answer level", PromptColumns("problem", "answer")),
            ("Input Target", PromptColumns("Input", "Target")),
            ("question subject choices answer", PromptColumns("question", "answer", "choices")),
            ("prompt expected system", PromptColumns("prompt", "expected", None, "system")),
            (
                "ground_truth user_prompt system_prompt",
                PromptColumns("user_prompt", "ground_truth", None, "system_prompt"),
            ),
        ],
    )
    def test_conventional_names_are_found_in_any_case(self, columns: str, found: PromptColumns) -> None:
        assert PromptColumns.find(columns.split()) == found

    def test_the_documented_name_wins_over_the_others(self) -> None:
        found = PromptColumns.find(["question", "user_prompt", "answer", "ground_truth"])
        assert found == PromptColumns("user_prompt", "ground_truth")

    def test_columns_can_be_named_outright(self) -> None:
        given = {"prompt": "body", "target": "gold"}
        assert PromptColumns.find(["body", "gold", "question"], given) == PromptColumns("body", "gold")

    def test_a_target_can_be_done_without(self) -> None:
        assert PromptColumns.find(["question"], needs_target=False) == PromptColumns("question")

    @pytest.mark.parametrize(
        ("columns", "given", "message"),
        [
            (
                "id text answer",
                {},
                "No column for the prompt (user_prompt, prompt, question, input, problem); "
                "name it with --column prompt=NAME. Columns: id, text, answer",
            ),
            (
                "question answer label",
                {},
                "Several columns could hold the target: answer, label; "
                "choose with --column target=NAME. Columns: question, answer, label",
            ),
            (
                "Question answer",
                {"prompt": "qestion"},
                "No column 'qestion' (--column prompt=qestion). Did you mean 'Question'? "
                "Columns: Question, answer",
            ),
            (
                "question answer",
                {"prompt": "zzz"},
                "No column 'zzz' (--column prompt=zzz). Columns: question, answer",
            ),
            (
                "question answer",
                {"promt": "question"},
                "Unknown part 'promt' in --column promt=question. Did you mean 'prompt'? "
                "Parts: prompt, target, options, system",
            ),
        ],
    )
    def test_what_cannot_be_found_is_said_with_the_option_to_give(
        self, columns: str, given: dict[str, str], message: str
    ) -> None:
        with pytest.raises(DatasetValidationError) as caught:
            PromptColumns.find(columns.split(), given)
        assert str(caught.value) == message


class TestContent:
    def test_parts_come_under_the_documented_names_and_the_rest_stays(self) -> None:
        columns = PromptColumns("question", "answer", None, "system")
        row = {"id": 3, "question": "2 + 2?", "answer": "4", "system": "Be brief."}
        assert columns.convert_row(row, 0) == {"id": 3, **GOOD}

    def test_options_become_lettered_lines_and_an_index_its_letter(self) -> None:
        row = {"question": "Capital of France?", "choices": ["Rome", "Paris"], "answer": 1}
        assert PromptColumns("question", "answer", "choices").convert_row(row, 0) == {
            "user_prompt": "Capital of France?\n\nA. Rome\nB. Paris",
            "options": ["Rome", "Paris"],
            "ground_truth": "B",
        }

    @pytest.mark.parametrize("target", [1, "B", " b ", "Paris"])
    def test_a_target_is_the_index_the_letter_or_the_text_of_an_option(self, target: Any) -> None:
        row = {"question": "Capital of France?", "options": ["Rome", "Paris"], "answer": target}
        assert PromptColumns("question", "answer", "options").convert_row(row, 0)["ground_truth"] == "B"

    @pytest.mark.parametrize("target", [2, -1, True, "C", "1", "London", ["B"]])
    def test_a_target_that_is_no_option_is_refused(self, target: Any) -> None:
        row = {"question": "Capital of France?", "options": ["Rome", "Paris"], "answer": target}
        message = (
            r"^Row 5: 'answer' must be a letter A to B, an integer index 0 to 1 or one of the options, got "
        )
        with pytest.raises(DatasetValidationError, match=message):
            PromptColumns("question", "answer", "options").convert_row(row, 5)

    def test_a_row_without_options_is_an_open_question(self) -> None:
        row = {"question": "2 + 2?", "options": None, "answer": "4"}
        content = PromptColumns("question", "answer", "options").convert_row(row, 0)
        assert content == {"user_prompt": "2 + 2?", "ground_truth": "4"}

    def test_options_in_csv_are_a_json_array(self) -> None:
        row = {"question": "q", "options": '["Rome", "Paris"]', "answer": "A"}
        assert PromptColumns("question", "answer", "options").convert_row(row, 0)["options"] == [
            "Rome",
            "Paris",
        ]

    @pytest.mark.parametrize("options", ["Rome|Paris", [1, 2], {"A": "Rome"}, [], ["x"] * 27])
    def test_options_that_are_no_list_of_1_to_26_strings_are_refused(self, options: Any) -> None:
        row = {"question": "q", "options": options, "answer": "A"}
        with pytest.raises(DatasetValidationError, match=r"^Row 2: 'options' must (be|hold) "):
            PromptColumns("question", "answer", "options").convert_row(row, 2)

    @pytest.mark.parametrize(
        ("target", "text"), [(42, "42"), (0.5, "0.5"), (True, "true"), ({"a": [1]}, '{"a":[1]}')]
    )
    def test_a_target_that_is_not_text_becomes_json_text(self, target: Any, text: str) -> None:
        content = PromptColumns("question", "answer").convert_row({"question": "q", "answer": target}, 0)
        assert content["ground_truth"] == text

    def test_a_target_that_is_a_list_stays_one(self) -> None:
        row = {"question": "q", "answer": [4, "four"]}
        assert PromptColumns("question", "answer").convert_row(row, 0)["ground_truth"] == [4, "four"]

    @pytest.mark.parametrize(
        ("columns", "options"),
        [
            ("question A B C D answer", ("A", "B", "C", "D")),
            ("question A B answer", ("A", "B")),
            ("question A C answer", None),
            ("question a b answer", None),
            ("question A B options answer", "options"),
        ],
    )
    def test_the_columns_a_b_and_so_on_are_options(self, columns: str, options: Any) -> None:
        assert PromptColumns.find(columns.split()).options == options

    def test_options_in_columns_of_their_own_end_with_the_last_filled_one(self) -> None:
        columns = PromptColumns("question", "answer", ("A", "B", "C", "D"))
        row = {"question": "q", "A": "one", "B": 2, "C": "", "D": None, "answer": "B"}
        content = columns.convert_row(row, 0)
        assert content == {
            "user_prompt": "q\n\nA. one\nB. 2",
            "options": ["one", "2"],
            "ground_truth": "B",
        }
        with pytest.raises(
            DatasetValidationError, match=r"^Row 0: 'C' is empty, but an option behind it is not$"
        ):
            columns.convert_row({**row, "D": "four"}, 0)

    @pytest.mark.parametrize("row", [{"question": "q"}, {"question": "q", "answer": None}])
    def test_a_row_without_its_target_is_refused(self, row: Row) -> None:
        with pytest.raises(DatasetValidationError, match=r"^Row 9: 'answer' cannot be null$"):
            PromptColumns("question", "answer").convert_row(row, 9)

    def test_a_prompt_must_be_text(self) -> None:
        with pytest.raises(DatasetValidationError, match=r"^Row 9: 'question' must be a string, got list$"):
            PromptColumns("question").convert_row({"question": ["q"]}, 9)

    def test_a_row_may_have_no_system_prompt(self) -> None:
        columns = PromptColumns("question", "answer", None, "system")
        assert "system_prompt" not in columns.convert_row({"question": "q", "answer": "a", "system": None}, 0)


def test_options_are_lettered_from_a() -> None:
    assert lettered_options(["Rome", "Paris", "Bern"]) == "A. Rome\nB. Paris\nC. Bern"
