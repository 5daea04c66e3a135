"""The documented evaluators: pure functions, as llm-benchmarker describes them, even if official graders differ."""
