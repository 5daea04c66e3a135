"""Results of load measurements: the figures of each level of load, read from its run."""
