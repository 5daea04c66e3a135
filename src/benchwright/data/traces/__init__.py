"""Traces: recorded load, published or from our own runs, read into conversations of requests with times."""
