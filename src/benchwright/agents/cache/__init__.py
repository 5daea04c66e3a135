"""The documented cache of `eval`: one JSON file per configuration, projected from the journal of its run.

The journal is what counts: a cache file says which run belongs to a configuration, and shows its results in
the documented shape. It can be deleted; the eval then runs again. Where the journal is gone, the run is made again
from the cache file.
"""
