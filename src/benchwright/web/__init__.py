"""The viewer: a local web application over the journals of all runs."""
