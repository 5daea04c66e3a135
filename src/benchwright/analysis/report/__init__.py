"""The contents of a report, read from journals and result files."""
