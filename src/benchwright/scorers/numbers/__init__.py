"""Reads numbers as people and models write them. docs/scorers.md states the rules once.

    text ──► tokens.py ──► expressions.py ──► items.py ──► final.py
             tokens        one value          numbers,     which of them
                                              and what     an answer
                                              is none      comes to

`digits.py` reads separators, `words.py` number words, `units.py` units; `quantity.py` has the values and when two are equal.
"""
