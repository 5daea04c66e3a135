"""Calls written in Java or JavaScript, parsed by tree-sitter.

An example is `Name.method(first="a", second=new int[]{1, 2})`. Calls are found and read as in the official
code (bfcl_eval, model_handler/parser), with later versions of its parsers. For Java, the official code slices
text by positions in bytes, so that an argument after a non-ASCII letter is cut at the wrong position. It
joins complex values from their tokens, without the white space between them and without the body of a class,
so that a HashMap loses its `{{ put(…); }}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from benchwright.catalog.bfcl.calls import Call, DecodingError, NoCallError
from benchwright.catalog.bfcl.categories import Language
from benchwright.optional_libraries import importing

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CALL_LENGTH = 4_000
"""Maximum length in characters of a call that is parsed, since parsing can take long.

The longest right call has 340.
"""

UNNAMED_ARGUMENT_KEY = ""
"""Name under which an unnamed argument is stored. No function has a parameter of this name."""

_AS_WRITTEN = (
    *("identifier", "class_literal", "type_identifier", "method_invocation"),
    *("string_literal", "character_literal"),
)
"""Kinds of syntax-tree nodes whose text in Java is taken unchanged, with white space."""


@cache
def create_parser(language: Language) -> Parser:
    """Return the parser of Java or JavaScript.

    Raises:
        UserError: If tree-sitter is not installed or cannot be imported. The message states how to get it.
    """
    with importing("tree-sitter", "BFCL's calls in Java and JavaScript text need", "bfcl"):
        import tree_sitter
        import tree_sitter_java
        import tree_sitter_javascript
    grammar = tree_sitter_java if language == "java" else tree_sitter_javascript
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def parse_source_call(text: str, language: Language) -> list[Call]:
    """Return the first call in a source text, as a list of length 1.

    The values of its named arguments are source text without quotation marks. Names among the arguments, and
    `true` in JavaScript, are stored as `UNNAMED_ARGUMENT_KEY`. Other unnamed arguments are left out.

    Raises:
        DecodingError: If the text cannot be parsed, contains no call, or an argument is named twice.
        UserError: If tree-sitter is not installed.
    """
    if len(text) > MAX_CALL_LENGTH:
        raise DecodingError("the answer is too long for a call")
    try:
        root = create_parser(language).parse(text.encode()).root_node
        if any(node.is_error for node in _all(root)):
            raise DecodingError(f"the answer is no {language.capitalize()}")
        return [_java_call(root, text) if language == "java" else _javascript_call(root)]
    except (IndexError, RecursionError, ValueError) as error:
        raise DecodingError(f"the answer cannot be read as a call: {error}") from None


def _java_call(root: Node, text: str) -> Call:
    call = _first(root, "method_invocation")
    written = _JavaText(text)
    name = written.plain(_field(call, "name"))
    owner = call.child_by_field_name("object")
    given: list[tuple[str, str]] = []
    for child in _field(call, "arguments").children:
        if child.type == "assignment_expression":
            given.append((written.plain(child.children[0]), written.argument(child.children[2])))
        elif child.type in ("identifier", "class_literal"):
            given.append((UNNAMED_ARGUMENT_KEY, written.plain(child)))
    return Call(f"{written.plain(owner)}.{name}" if owner else name, _arguments(given))


class _JavaText:
    """Extracts the text of tree-sitter nodes, joined in the way of the official code."""

    def __init__(self, text: str) -> None:
        self._text = text

    def plain(self, node: Node) -> str:
        """Return the text of a node.

        Byte positions are used as character positions, as in the official code.
        """
        return self._text[node.start_byte : node.end_byte]

    def argument(self, node: Node) -> str:
        """Return the text of an argument's value. The quotation marks of a string literal are removed."""
        if node.type in ("string_literal", "character_literal"):
            return self.plain(node)[1:-1]
        return self._put_together(node)

    def _put_together(self, node: Node) -> str:
        if node.type in _AS_WRITTEN or not node.child_count:
            return self.plain(node)
        if node.type == "array_creation_expression":
            return f"new {self._of(node, 'type')}[]{self._of(node, 'value')}"
        if node.type == "object_creation_expression":
            values = [one for one in _field(node, "arguments").children if one.type not in ("(", ",", ")")]
            return f"new {self._of(node, 'type')}({', '.join(map(self._put_together, values))})"
        return "".join(map(self._put_together, node.children))

    def _of(self, node: Node, field: str) -> str:
        return self._put_together(_field(node, field))


def _javascript_call(root: Node) -> Call:
    """Return the first call that is a whole statement. A call inside another expression is not found."""
    statements = (one for one in root.children if one.type == "expression_statement")
    calls = [one for statement in statements for one in statement.children if one.type == "call_expression"]
    if not calls:
        raise NoCallError("there is no call in the answer")
    function, arguments = calls[0].children[:2]
    given: list[tuple[str, str]] = []
    for child in arguments.children:
        if child.type == "assignment_expression":
            given.append(
                (_javascript_text(child.children[0]), _unquoted(_javascript_text(child.children[2])))
            )
        elif child.type in ("identifier", "true"):
            given.append((UNNAMED_ARGUMENT_KEY, _javascript_text(child)))
    return Call(_javascript_text(function), _arguments(given))


def _javascript_text(node: Node) -> str:
    return (node.text or b"").decode()


def _unquoted(text: str) -> str:
    return text[1:-1] if any(text.startswith(mark) and text.endswith(mark) for mark in "\"'") else text


def _arguments(given: list[tuple[str, str]]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    for name, value in given:
        if name in arguments:
            raise DecodingError(f"the argument {name!r} is given twice")
        arguments[name] = value
    return arguments


def _first(root: Node, kind: str) -> Node:
    """Return the first node of a kind, in depth-first order."""
    found = next((node for node in _all(root) if node.type == kind), None)
    if found is None:
        raise NoCallError("there is no call in the answer")
    return found


def _all(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _field(node: Node, name: str) -> Node:
    child = node.child_by_field_name(name)
    if child is None:
        raise DecodingError(f"a {node.type} has no {name}")
    return child
