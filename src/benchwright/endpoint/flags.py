"""Flags that requests get on their way, besides those of what reads them."""

TRANSLATED = "translated"
"""Flag of a request in another dialect than the target's."""

UNDECIDED = "dialect_undecided"
"""Flag of a translated request of which nobody knows whether the target would have understood it as it was."""

WITHOUT = "without:"
"""Begins the flag of a request that left out a header or a field which the server had refused; its name follows."""

NARROWED = "narrowed"
"""Flag of a request from whose refusal that was learned. It enters no timing."""
