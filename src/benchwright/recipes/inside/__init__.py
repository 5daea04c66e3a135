"""What runs in a container: single files of the standard library, given to its Python as text."""
