"""The joint view: quality and speed of the same requests.

It is made for one run, and for runs at several concurrencies.
"""
