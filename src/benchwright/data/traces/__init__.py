"""Traces (recorded load, published or from our own runs), read as conversations of requests with times."""
