"""Recipes of command-line agents: how each agent is installed, and how it is started for one trial.

recipe               the content of a recipe, and its parser
recipe_lookup        all recipes: those shipped with Benchwright, and the user's own
installed_agents     installed agents on this machine, a directory for each version
installing           installation of npm and PyPI packages into such a directory
newest_versions      look-up of the newest versions of agents
agent_verifications  the last tests with real agents
launch_specs         command, environment and files of one start, as pure functions
in_containers        mounts and commands for agents in containers
runtime              a Python that runs in any container
tmux                 a tmux that runs in any container
collected_files      an agent's own records and the files of its task
"""
