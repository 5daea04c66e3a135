"""The engine: plans, the loop that runs their trials, batched journal writes, reuse of earlier trials, and
stop rules.
"""
