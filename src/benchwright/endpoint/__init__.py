"""Endpoints: HTTP transport, response meter, client, retries, keys, and a simulated endpoint."""
