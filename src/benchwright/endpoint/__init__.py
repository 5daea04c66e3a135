"""Endpoints: the wire, the meter on it, the client, retries, keys, and a simulated endpoint."""
