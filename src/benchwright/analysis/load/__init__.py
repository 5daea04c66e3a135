"""Results of load measurements: the figures of each load level, read from the level's run."""
