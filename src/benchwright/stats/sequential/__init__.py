"""Tests that may be looked at after every unit, and stop when the answer is certain.

    capital    bets against claims about a mean: the one method, for all kinds of data and both questions
    running    an interval for a mean that holds at every moment
    decision   better, worse, not worse, equivalent: what the interval allows to say, and when
    units      groups as units; the worst cases of failures
    foresight  earlier results on the same samples make the interval narrower (finite lists only)

`stats.families` adjusts the evidence of several questions at once. docs/decide.md is the method on a page.
"""
