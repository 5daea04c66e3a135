"""Reads traces as conversations of requests with times. A trace is a recorded load, published or from our own runs."""
