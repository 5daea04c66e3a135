"""The documented Python interface of llm-benchmarker.

The import package of that name re-exports it from here.
"""
