"""The pages, one module each: the query of a request, the data read for it, and the template."""
