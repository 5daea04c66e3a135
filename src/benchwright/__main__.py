"""Entry point of `python -m benchwright`.

Python puts the working directory first in `sys.path` here, so a user's `random.py` would replace Python's own
module. It is removed before anything else is imported. What users name as `module:attribute` is still found
there, after everything else (`agents/loading.py`).
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from benchwright.cli.start import main

main()
