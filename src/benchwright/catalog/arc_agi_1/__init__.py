"""ARC-AGI-1: see `arc_agi`."""
