"""Evaluations over a dataset, with agents, prompts, eval functions, or users' own code."""
