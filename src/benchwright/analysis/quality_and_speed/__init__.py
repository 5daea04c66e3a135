"""The joint view: quality and speed of the same requests, for one run and for runs at several concurrencies."""
