"""The documented cache of `eval`: one JSON file per configuration, derived from the journal of its run.

The journal is authoritative. A cache file states which run belongs to a configuration, and contains its
results in the documented format. If it is deleted, the eval runs again. If the journal is missing, the run is
reconstructed from the cache file.
"""
