"""ARC-AGI-2: grids transformed by a rule, the second version. The package `arc_agi` implements it."""
