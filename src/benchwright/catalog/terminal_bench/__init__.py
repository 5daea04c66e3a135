"""Terminal-Bench: tasks in a Linux terminal, each in an image of its own, graded by its own tests.

Those of 2.0 are in Harbor's format (`catalog.harbor`); `version_1` reads those of 1.0 (task.yaml, docker-compose.yaml).
"""
