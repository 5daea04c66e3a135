"""Evaluations over a dataset: agents, prompts without code, eval functions, and a user's own code."""
