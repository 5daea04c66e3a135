"""Tests that may be looked at after every unit, and stop when the answer is certain.

    capital    bets against claims about a mean: the one method, for all kinds of data and both questions
    running    an interval for a mean that holds at every moment
    decision   better, worse, not worse, equivalent: what the interval allows to say, and when
    family     several questions about the same units, which share the error
    units      groups as units
    foresight  earlier results on the same samples make the interval narrower (finite lists only)

docs/decide.md is the method on a page.
"""
