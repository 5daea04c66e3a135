"""Bench Packs: installs, configures and runs packs of Bench Protocol v1, each in its own process."""
