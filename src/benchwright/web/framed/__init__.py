"""The page of a web pack in a frame, and the host that serves it."""
