"""Tasks as folders, in Harbor's format: an instruction, images, tests that write rewards, a solution.

`task_file` is task.toml as plain data. `settings_reader`, with `environment_table` and `compose`, converts
that data to `settings`, or refuses what is not supported. `environment` starts a task's containers. `solver`
takes each trial through its steps (`attempt`): `step_setup` and `health` before the agent works, `testing`
afterwards. Tests run in the agent's container, under a seal (`sealed_testing`), or in a separate container
that receives the `artifacts`. `grading` converts rewards to a score, and `checks` runs the tasks' own
solutions.
"""
