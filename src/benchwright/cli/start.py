"""Where the program begins, before anything is imported."""

import signal


def main() -> None:
    """The console script: runs a command. Ctrl-C during the imports ends the program as it would one not in Python."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from benchwright.cli.main import main as run

    run()
