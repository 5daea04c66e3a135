"""`python -m benchwright`, with which Python looks for every module in the working directory first: no more from here.

What users name as `module:attribute` is found there still (`agents/loading.py`), after everything else.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from benchwright.cli.start import main

main()
