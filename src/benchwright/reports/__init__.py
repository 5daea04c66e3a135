"""Reports: summaries rendered as text, tables, HTML pages and the documented file formats."""
