"""The documented Python API of evaluations; see `benchwright.agents.runners`."""
