"""What was served at each level of load."""
