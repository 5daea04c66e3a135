"""Built-in scorers, for evaluations without code. Each compares an answer with `ground_truth`."""
