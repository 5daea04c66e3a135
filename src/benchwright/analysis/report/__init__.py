"""What a report tells, read from journals and result files."""
