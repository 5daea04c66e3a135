"""Deciding a run's question (`--until`: is a new model better?), for growing and finished runs.

records       a decision as plain data
score_bounds  the lowest and highest possible value of a trial
model_comparison  one new model against the old one, by one score
question_tracker  unit after unit, in the question's order, until every comparison has a verdict
decision      the decision of a run: verdicts, intervals, savings
"""
