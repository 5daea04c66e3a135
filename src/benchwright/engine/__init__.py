"""The engine: plans, the loop that runs their trials, group commits, reuse and stop rules."""
