"""Entry point of `python -m benchwright`.

Python puts the working directory first in `sys.path` here, so a user's `random.py` would replace Python's own
module. The working directory is removed from `sys.path` before anything else is imported. A user's
`module:attribute` is still found in the working directory, after all other places (`agents/loading.py`).
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from benchwright.cli.start import main

main()
