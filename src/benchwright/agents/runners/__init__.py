"""The Python API that osmosis_ai documents.

It has a dataset reader, a model client, and runners that run an agent over rows.
"""
