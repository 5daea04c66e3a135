"""What there is on this machine of what Benchwright can use, what is missing, and what is wrong.

findings    what is found out, and how: every check in a thread of its own, with a time limit
machine     home directory, memory, open files, clock
network     loopback, proxies
programs    Python and its extras, Node, the local sandbox
containers  the engine, its disk and images, the `docker` program
"""

from benchwright.app.doctor.examining import examine
from benchwright.app.doctor.findings import Finding

__all__ = ["Finding", "examine"]
