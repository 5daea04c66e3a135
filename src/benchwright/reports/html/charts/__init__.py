"""Charts as SVG: text made from numbers, the same every time."""
