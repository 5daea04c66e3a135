"""The command line. Each command has a module that parses options, calls `app` and prints results."""
