"""The joint view: quality and speed of the same requests.

It is computed for a single run, and as a table for runs that differ only in concurrency.
"""
