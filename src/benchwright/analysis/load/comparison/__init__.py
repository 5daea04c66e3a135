"""Comparison of servers: load measurements compared level by level."""
