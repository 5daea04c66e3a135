"""The program from Python: the same settings, launchers and figures as behind the commands."""
