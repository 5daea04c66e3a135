"""What the logs of test runs say, by swebench's rules (harness/log_parsers, 5.0.2), a module for each language.

The rules are brittle in places, and the lists of expected tests were made with them: they are kept as they are, so that
the same log gives the same result. `runner` says what a reader is, `names` which reader a row means.
"""
