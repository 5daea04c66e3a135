"""The judge of a score: which model it is, and its certificate from human labels."""
