"""Tasks as folders, in Harbor's format: an instruction, images, tests that write a reward, a solution.

`task_file` reads task.toml and `compose` compose files, both into `settings`; `environment` starts a task's containers,
`solver` lets the model work and then runs the tests of `testing`, `grading` says what their result is worth, and
`checks` holds the tasks' own solutions.
"""
