"""The cache of `eval`, as osmosis_ai documents it: one JSON file per configuration, made from the journal of its run.

The journal is authoritative. A cache file states which run belongs to a configuration, and contains the run's
results in the format that osmosis_ai documents. If the cache file is deleted, the eval runs again. If the
journal is missing, the run is reconstructed from the cache file.
"""
