"""Runs one Python pack for the host that started this process; the counterpart of `packs/node`."""
