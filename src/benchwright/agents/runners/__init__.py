"""The documented Python API: a dataset reader, a model client, and runners that run an agent over rows."""
