"""Quality and speed of the same requests: of one run, and of runs at several concurrencies."""
