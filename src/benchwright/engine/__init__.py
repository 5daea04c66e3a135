"""The engine: plans, the loop that runs their trials, batched journal writes, reuse and stop rules."""
