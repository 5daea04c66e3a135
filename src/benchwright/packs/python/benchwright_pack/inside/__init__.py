"""Runs a Python pack in its process for the host; the counterpart of `packs/node` for JavaScript."""
