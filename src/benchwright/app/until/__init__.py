"""`--until`: a run that ends as soon as its question is decided.

question   what the settings ask, and in which order samples are asked for it
earlier    answers that were given before (`--against`), and those of further models
rule       follows the run and ends it
"""
