"""The viewer: a local web application that shows all runs, read from their journals."""
