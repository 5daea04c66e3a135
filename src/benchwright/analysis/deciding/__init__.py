"""Decides a run's question (`--until`: is a new model better?), while the run grows and when it is finished.

records       a decision as plain data
score_bounds  the lowest and highest possible value of a trial
model_comparison  one new model compared with the old one, by one score
question_tracker  processes unit after unit, in the question's order, until every comparison has a verdict
decision      the decision of a run: verdicts, intervals, savings
"""
