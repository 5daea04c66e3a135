"""The documented evaluators: pure functions that follow llm-benchmarker's description.

They follow this description even where official graders differ from it.
"""
