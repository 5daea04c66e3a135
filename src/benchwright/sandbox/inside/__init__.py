"""Code that runs in the sandbox before the untrusted program. It uses only the standard library.

The command `python -I -S -c START folder descriptor` (see `launch.py`) imports only this package, as
`inside`.
"""
