"""The seal around agents in containers: keeps answers out of their reach, and verdicts from being forged.

history.py             removes everything later than the checked-out commit from a repository
leaks.py               searches an image for known solutions and tests
patches.py             finds patches that leave the work tree, or change how tests are found and run
test_configuration.py  recognises the files and lines that configure tests
canaries.py            a test that always fails, added to the tests of a pass
verifier.py            starts containers for tests that the agent cannot reach

A seal only removes what a solution does not need. Anything else that the seal finds becomes a flag, which never
changes a score.
"""
