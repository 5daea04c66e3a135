"""Replay of a trace: prompts are made from its blocks and lengths, and sent at its times."""
