"""Programs that run in the sandbox beside the authors' domains.

This package is never imported by Benchwright.
"""
