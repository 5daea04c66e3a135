"""Compares servers: load measurements are compared level by level."""
