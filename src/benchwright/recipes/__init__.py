"""Command-line agents by recipes: how each is installed, and how it is started for one trial.

recipe      what a recipe says, and how it is read
shelf       the recipes there are: those that come with Benchwright, and the user's own
layers      what is installed on this machine, a directory for each version
installing  npm's and PyPI's packages into such a layer
starting    command, environment and files of one start: pure
runtime     a Python that runs in any container
collecting  what an agent leaves: its own records and the files of its task
"""
