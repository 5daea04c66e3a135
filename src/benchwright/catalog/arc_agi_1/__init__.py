"""ARC-AGI-1: grids transformed by a rule (Chollet 2019). The package `arc_agi` implements it."""
