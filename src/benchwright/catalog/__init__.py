"""The catalog: standard benchmarks with their official graders, one subpackage each, on the engine.

`benchmark` defines the interface of a benchmark, `registry` finds one by name, `task` makes it a task of the
engine. A benchmark's subpackage holds `about.py` (plain metadata of its variants), `benchmark.py` (which
builds it), and separate modules for prompts and grading.
"""
