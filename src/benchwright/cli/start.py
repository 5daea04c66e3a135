"""Where the program begins, before anything is imported: `_signal` is the part of `signal` that is there already."""

import _signal as signal  # type: ignore[import-not-found]


def main() -> None:
    """The console script: runs a command. Ctrl-C during the imports ends the program as it would one not in Python."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from benchwright.cli.main import main as run

    run()
