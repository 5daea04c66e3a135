"""`--until`: a run that ends as soon as its question is decided.

question   the question in the settings, and the order of its samples earlier    existing answers: of the old
model (`--against`), and of other models rule       the stop rule, which follows the run and ends it
"""
