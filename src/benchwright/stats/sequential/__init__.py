"""Sequential tests: they may be read after every sample, and stop when the answer is certain.

    betting    bets against claims about a mean: the one method, for all kinds of data and both goals
    confidence_sequence  an interval for a mean that is valid at every moment
    decision   better, worse, not worse, equivalent: the verdicts that the interval allows, and when
    question_family  several questions about the same units, which share the error probability
    units      clusters of samples as units, the items that are drawn at random
    difference_predictor  earlier results on the same samples make the interval narrower (finite lists only)

docs/decide.md describes the method on one page.
"""
