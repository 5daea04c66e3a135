"""Built-in scorers: for evaluations that need no code. Each compares an answer with `ground_truth`."""
