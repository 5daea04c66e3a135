"""The import paths that the documentation of llm-benchmarker promises. They contain no logic of their own."""
