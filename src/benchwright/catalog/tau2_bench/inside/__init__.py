"""Programs that run in the sandbox, next to the domains that tau2-bench's authors wrote.

This package is never imported by Benchwright.
"""
