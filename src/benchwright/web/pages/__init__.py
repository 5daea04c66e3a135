"""The viewer's pages, one module each: it parses a request's query, reads the data and renders the template."""
