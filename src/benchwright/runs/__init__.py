"""A run on disk: journal, manifest, store, and the one table that everything else reads."""
