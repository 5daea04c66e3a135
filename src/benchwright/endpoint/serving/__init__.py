"""The server's side of HTTP/1.1: requests parsed, answers written; the simulated endpoint and the relay use it."""
