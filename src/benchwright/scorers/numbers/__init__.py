"""A reader of numbers as people and models write them. docs/scorers.md states its rules.

    text ──► tokens.py ──► expressions.py ──► items.py ──► sentences.py ──► final.py
             tokens        one value          numbers,     the number       the number of
                                              dates,       of a sentence    an answer, or of
                                              ranges, …                     a gold answer

`digits.py` reads separators, `numerals.py` scales, fractions, currencies and units around digits, `words.py`
number words, `units.py` units. `marks.py` finds marked answers (a box, `####`, "the answer is").
`quantity.py` defines the values and their equality.
"""
