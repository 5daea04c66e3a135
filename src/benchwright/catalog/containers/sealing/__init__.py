"""The seal around agents in containers: keeps answers out of their reach, and verdicts from being forged.

history.py         a repository without anything later than the commit that is checked out
leaks.py           known solutions and tests in an image
patches.py         patches that leave the work tree, or change how tests are found and run
configuration.py   the files and lines that configure tests
canaries.py        a test that always fails, added to the tests of a pass
verifier.py        containers for tests that the agent cannot reach

A seal only removes what a solution does not need. Anything else that it finds becomes a flag, which never
changes a score.
"""
