"""Terminal-Bench: tasks in a Linux terminal, each in its own image, graded by its own tests.

Tasks of 2.0 are in Harbor's format (`catalog.harbor`). `version_1` reads those of 1.0 (task.yaml,
docker-compose.yaml).
"""
