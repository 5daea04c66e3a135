"""Engine tasks over a dataset: agents, prompts, eval functions, and code written by users."""
