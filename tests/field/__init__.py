"""`make field`: what users rely on, tried on servers that nobody here wrote, with a real model.

servers/      how each server is had and started, and what it cannot do: a module for each kind
test_*.py     the features: each test runs on every server
results.py    collects what came of it: the table at the end, and build/field.json
document.py   writes docs/servers.md from that file

Tests state what a user may rely on: statuses, counts, and figures against the server's own log. None depends on speed,
and only those that ask for what the model certainly says depend on its words.
"""
