"""The seal of agents in containers: answers out of their reach, and verdicts that they cannot forge.

history.py   a repository without anything later than the commit that is checked out
patches.py   patches that reach out of the work tree, or change how tests are found and run

A seal only ever takes away what a solution does not need. What it finds besides becomes a flag, never a score.
"""
