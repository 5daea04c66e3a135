"""HMMT, the Harvard-MIT Mathematics Tournament. An answer is an expression, or a list of expressions."""
