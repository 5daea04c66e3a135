"""Charts as SVG text. Equal numbers always give equal text."""
