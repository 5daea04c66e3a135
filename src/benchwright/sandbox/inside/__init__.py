"""Code that runs in the sandbox before the untrusted program. It uses only the standard library.

`python -I -S -c START folder descriptor` (see `launch.py`) imports this package alone, as `inside`.
"""
