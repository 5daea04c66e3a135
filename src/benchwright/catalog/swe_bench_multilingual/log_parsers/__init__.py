"""Parsers of test logs, by swebench's rules (harness/log_parsers, 5.0.2), a module for each language.

The rules are brittle in places, and the lists of expected tests were made with them. They are kept unchanged,
so that the same log gives the same result. `runner` defines what a parser is, `names` maps the names in rows
to parsers.
"""
