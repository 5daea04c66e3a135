"""Entry point of the program.

The module imports almost nothing: `_signal` is the part of `signal` that is always loaded.
"""

import _signal as signal  # type: ignore[import-not-found]


def main() -> None:
    """Run a command. It is the console script.

    During the imports, Ctrl-C ends the process without a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from benchwright.cli.main import main as run

    run()
