"""Results of load measurements at each level of load."""
