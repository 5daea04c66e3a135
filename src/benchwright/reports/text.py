"""Text for terminals: numbers in the field's usual forms, and foreign text made harmless."""

from __future__ import annotations


def plain(text: str) -> str:
    """Text in one line without control, format and bidirectional characters: it cannot steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    import unicodedata

    return "".join(
        character if character.isprintable() and unicodedata.category(character) != "Cf" else " "
        for character in text
    )


def plain_lines(text: str) -> str:
    """Like `plain`, but line ends and tabs are kept."""
    return "\n".join(plain(line.replace("\t", "    ")) for line in text.split("\n"))
