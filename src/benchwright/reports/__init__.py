"""Reports: what summaries look like, in text and in the documented formats."""
