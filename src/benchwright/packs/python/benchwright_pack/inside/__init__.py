"""Runs a Python pack in its process, for the host. It is the counterpart of `packs/node` for JavaScript."""
