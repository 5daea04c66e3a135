"""Files that run in the sandbox, beside BFCL's own classes. They are never imported by this program."""
