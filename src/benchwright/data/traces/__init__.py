"""Traces: recorded load, as published or as our own runs had it, read into conversations of requests with times."""
