"""The documented Python API: a dataset reader, a model client, and runners of an agent over rows."""
