"""The import paths that the llm-benchmarker document promises; thin, no logic of their own."""
