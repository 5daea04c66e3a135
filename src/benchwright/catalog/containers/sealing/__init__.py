"""The seal of agents in containers: keeps answers out of their reach, and verdicts from being forged.

history.py   a repository without anything later than the commit that is checked out
patches.py   patches that reach out of the work tree, or change how tests are found and run

A seal only removes what a solution does not need. Anything else it finds becomes a flag, never a score.
"""
