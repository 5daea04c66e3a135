"""How `module:attribute` is found, and what is said when it is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwright.agents.loading import load_agent, load_object
from benchwright.errors import UserError

Write = Callable[[str, str], Path]

AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop, create_app

class Mine(RolloutAgentLoop):
    name = "mine"
    def get_tools(self, request): return []
    async def run(self, ctx): return ctx.complete([])

class Needy(Mine):
    def __init__(self, url): self.url = url

agent_loop = Mine()
app = create_app(agent_loop)
"""


def complaint(path: str) -> str:
    with pytest.raises(UserError) as caught:
        load_object(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


class TestLoadObject:
    def test_finds_a_module_in_the_working_directory(self, project: Write) -> None:
        project("mine.py", "answer = 42")
        assert load_object("mine:answer") == 42

    def test_prefers_the_working_directory_and_keeps_it_for_later_imports(self, project: Write) -> None:
        project("mine.py", "def later():\n    import helper\n    return helper.answer")
        project("helper.py", "answer = 42")
        assert load_object("mine:later")() == 42

    def test_takes_dotted_modules(self, project: Write) -> None:
        project("rewards/__init__.py", "")
        project("rewards/numbers.py", "answer = 42")
        assert load_object("rewards.numbers:answer") == 42

    def test_splits_at_the_last_colon(self, project: Write) -> None:
        assert "Cannot import module 'C:mine'" in complaint("C:mine:answer")

    @pytest.mark.parametrize("path", ["mine", "mine:", ":answer", ""])
    def test_a_path_has_two_parts(self, path: str) -> None:
        assert complaint(path) == (
            f"Invalid module path '{path}'. Expected format: 'module:attribute' "
            "(e.g., 'my_agent:MyAgentLoop')"
        )

    def test_a_missing_module_is_named_with_one_that_was_perhaps_meant(self, project: Write) -> None:
        project("my_agent.py", "")
        text = complaint("my_agnet:Agent")
        assert text.startswith("Cannot import module 'my_agnet': no such module in ")
        assert "Did you mean 'my_agent'?" in text

    def test_a_missing_attribute_is_named_with_those_that_are_there(self, project: Write) -> None:
        project("mine.py", "answer = 1\nquestion = 2\n_private = 3")
        assert complaint("mine:anser").startswith(
            "Module 'mine' has no attribute 'anser'. Available: ['answer', 'question']"
        )
        assert "Did you mean 'answer'?" in complaint("mine:anser")

    def test_a_syntax_error_is_one_line_with_its_place(self, project: Write) -> None:
        project("mine.py", "x = 1\ndef broken(:\n    pass\n")
        assert complaint("mine:x") == "Cannot import module 'mine': invalid syntax (mine.py:2)"

    def test_a_module_that_the_users_module_needs_is_named_with_the_line_that_needs_it(
        self, project: Write
    ) -> None:
        project("mine.py", "\nimport no_such_library\n")
        assert complaint("mine:x") == (
            "Cannot import module 'mine': No module named 'no_such_library' (mine.py:2)"
        )

    def test_whatever_else_fails_is_told_with_the_innermost_line_of_the_users_code(
        self, project: Write
    ) -> None:
        project("mine.py", "import helper\nhelper.start()")
        project("helper.py", "import json\n\ndef start():\n    json.loads('{')")
        text = complaint("mine:x")
        assert text.startswith("Cannot import module 'mine': JSONDecodeError: ")
        assert text.endswith("(helper.py:4)")

    def test_a_script_that_ends_the_program_is_no_module(self, project: Write) -> None:
        project("mine.py", "import sys\nsys.exit(3)")
        assert complaint("mine:x") == "Cannot import module 'mine': it calls sys.exit(3) (mine.py:2)"

    def test_the_traceback_is_kept_for_those_who_ask_for_it(self, project: Write) -> None:
        project("mine.py", "1 / 0")
        with pytest.raises(UserError) as caught:
            load_object("mine:x")
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


class TestLoadAgent:
    def test_takes_an_instance_as_it_is(self, project: Write) -> None:
        project("server.py", AGENT)
        assert load_agent("server:agent_loop") is sys.modules["server"].agent_loop

    def test_makes_an_instance_of_a_class(self, project: Write) -> None:
        project("server.py", AGENT)
        assert load_agent("server:Mine").name == "mine"

    def test_says_why_a_class_cannot_be_made(self, project: Write) -> None:
        project("server.py", AGENT)
        with pytest.raises(UserError, match=r"Cannot create agent 'server:Needy': TypeError: .*'url'"):
            load_agent("server:Needy")

    @pytest.mark.parametrize(("name", "kind"), [("app", "a RolloutApp"), ("create_app", "a function")])
    def test_refuses_what_is_no_agent(self, project: Write, name: str, kind: str) -> None:
        project("server.py", AGENT)
        with pytest.raises(
            UserError, match=f"'server:{name}' must be a RolloutAgentLoop .* but it is {kind}"
        ):
            load_agent(f"server:{name}")

    def test_refuses_a_class_of_another_kind_by_its_name(self, project: Write) -> None:
        project("mine.py", "class Stranger: pass")
        with pytest.raises(UserError, match="it is the class Stranger"):
            load_agent("mine:Stranger")
