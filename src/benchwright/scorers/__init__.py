"""Built-in scorers, for evaluations without code.

Each scorer compares an answer with the sample's `ground_truth`.
"""
