"""The documented Python API: a dataset's reader, a model's client, and runners of an agent over rows."""
