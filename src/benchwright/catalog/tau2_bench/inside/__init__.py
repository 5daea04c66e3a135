"""Programs that run in the sandbox beside the domains that tau2-bench's authors wrote.

This package is never imported by Benchwright.
"""
