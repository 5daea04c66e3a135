"""The documented evaluators: pure functions, as llm-benchmarker describes them.

They keep to its description even if official graders differ.
"""
