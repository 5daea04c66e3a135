"""Tasks as folders, in Harbor's format: an instruction, images, tests that write rewards, a solution.

`task_file` is task.toml as plain data; `reading`, with `environment_table` and `compose`, makes `settings` of it, or
refuses what cannot be done. `environment` starts a task's containers. `solver` has each trial go through its steps
(`attempt`): `preparing` and `health` before the agent works, `testing` afterwards, under a seal (`sealed_testing`) or
in a container of their own with what `artifacts` brings there. `grading` says what the rewards are worth, and `checks`
holds the tasks' own solutions.
"""
