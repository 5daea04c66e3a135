"""Built-in scorers, for evaluations without code.

Each compares an answer with the sample's `ground_truth`.
"""
