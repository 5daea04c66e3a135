"""Parsers of test logs by swebench's rules (harness/log_parsers, 5.0.2), one module per language.

Some of these rules are brittle, but the lists of expected tests were made with them. They are kept unchanged,
so that the same log gives the same result. `runner` defines a parser's interface, `names` maps the parser
names in rows to parsers.
"""
