"""Terminal-Bench: tasks in a Linux terminal, each in its own image, graded by its own tests.

Tasks of version 2.0 and later are in Harbor's format (`catalog.harbor`). The module `version_1` reads tasks
of 1.0 (task.yaml, docker-compose.yaml).
"""
