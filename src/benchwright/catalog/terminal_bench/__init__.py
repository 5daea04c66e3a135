"""Terminal-Bench: tasks in a Linux terminal, each in an image of its own, graded by its own tests.

`harbor` reads the tasks of 2.0 (task.toml), `version_1` and `compose` those of 1.0 (task.yaml, docker-compose.yaml),
both into `settings`; `environment` starts a task's containers, `solver` lets the model work and then runs the tests of
`testing`, `grading` says what their result is worth, and `checks` holds the tasks' own solutions.
"""
