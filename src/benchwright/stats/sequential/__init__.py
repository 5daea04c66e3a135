"""Sequential tests: they may be read after every unit, and stop when the answer is certain.

    capital    bets against claims about a mean: the one method, for all kinds of data and both questions
    running    an interval for a mean that holds at every moment
    decision   better, worse, not worse, equivalent: the verdicts that the interval allows, and when
    family     several questions about the same units, which share the error
    units      groups as units
    foresight  earlier results on the same samples make the interval narrower (finite lists only)

docs/decide.md describes the method on one page.
"""
