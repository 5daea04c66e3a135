"""Code that runs in the sandbox before the untrusted program: only the standard library, no other Benchwright
code.

`python -I -S -c START folder descriptor` (see `launch.py`) imports this package alone, as `inside`.
"""
