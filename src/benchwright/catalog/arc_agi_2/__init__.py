"""ARC-AGI-2: see `arc_agi`."""
