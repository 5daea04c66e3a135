"""The command line, one module per command: parse options, call `app`, print results."""
