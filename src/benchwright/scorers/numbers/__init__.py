"""A reader of numbers as people and models write them. docs/scorers.md states the rules.

    text ──► tokens.py ──► expressions.py ──► items.py ──► sentences.py ──► final_number.py
             tokens        one value          numbers,     the number       the number of
                                              dates,       of a sentence    an answer, or of
                                              ranges, …                     a gold answer

`digits.py` reads separators. `numerals.py` reads scales, fractions, currencies and units around digits.
`number_words.py` reads number words. `units.py` reads units. `joined_numbers.py` reads ranges, lists and ratios.
`answer_marks.py` finds marked answers (a box, `####`, "the answer is").
`quantity.py` defines the values and their equality.
"""
