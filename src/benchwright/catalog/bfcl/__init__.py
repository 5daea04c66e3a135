"""BFCL: the Berkeley Function Calling Leaderboard, versions 3 and 4 (github.com/ShishirPatil/gorilla).

A category is a set of tasks, such as `live_simple` or `multi_turn_base`. A group is a set of categories with
one score on the leaderboard, such as live or multi-turn.
"""
