"""The catalog: standard benchmarks with their official graders. Each has its own subpackage.

`benchmark` defines the interface of a benchmark, `registry` finds a benchmark by name, `task` makes a
benchmark a task of the engine. A benchmark's subpackage holds `about.py` (plain metadata of its variants),
`benchmark.py` (which builds the benchmark), and separate modules for prompts and grading.
"""
