"""Charts as SVG text. The same numbers always give the same text."""
