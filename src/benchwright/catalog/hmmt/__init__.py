"""HMMT, the Harvard-MIT Mathematics Tournament: an answer is an expression, or a list of them."""
