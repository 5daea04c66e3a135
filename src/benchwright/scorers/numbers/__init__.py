"""Reads numbers as people and models write them. docs/scorers.md states the rules once.

    text ──► tokens.py ──► expressions.py ──► items.py ──► sentences.py ──► final.py
             tokens        one value          numbers,     which of them    what an answer
                                              and what     a sentence is    comes to, and
                                              is none      about            what a gold one is

`digits.py` reads separators, `numerals.py` what belongs to digits, `words.py` number words, `units.py` units;
`marks.py` finds where an answer is given; `quantity.py` has the values, and when two of them are equal.
"""
