"""The documented evaluators: pure functions that follow llm-benchmarker's description.

They follow it even if official graders differ.
"""
