"""Shows the page of a web pack in a frame, and acts as its host."""
