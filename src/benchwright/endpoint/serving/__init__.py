"""The server side of HTTP/1.1: parses requests and writes responses, for the simulated endpoint and the relay."""
