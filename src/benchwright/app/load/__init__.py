"""Load measurements: levels of concurrency or request rate, each an ordinary run, and their combined result.
"""
