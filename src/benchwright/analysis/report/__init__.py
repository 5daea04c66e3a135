"""Collects the contents of a report from journals and result files."""
