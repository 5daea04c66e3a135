"""Engine tasks over a dataset: agents, prompts, eval functions, and users' own code."""
