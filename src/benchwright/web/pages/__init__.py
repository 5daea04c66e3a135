"""The viewer's pages, one module for each: it parses the request's query, reads the data and renders the template."""
