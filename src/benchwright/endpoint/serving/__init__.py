"""The server side of HTTP/1.1: parses requests and writes responses. The simulated endpoint and the relay use it."""
