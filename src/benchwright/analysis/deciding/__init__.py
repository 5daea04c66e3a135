"""Deciding a run's question (`--until`) from its table, while the run grows and afterwards, by the same code.

records    what is said of a decision
values     the least and the most that a trial is worth
following  unit after unit, in the question's order, until every comparison has a verdict
decision   the decision of a run: verdicts, intervals, what was saved
"""
