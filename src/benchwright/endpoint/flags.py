"""Flags that requests get on their way, besides those of what reads them."""

TRANSLATED = "translated"
"""Flag of a request in another dialect than the target's."""

UNDECIDED = "dialect_undecided"
"""Flag of a translated request of which nobody knows whether the target would have understood it as it was."""
