"""What runs in the sandbox, beside the authors' own domains; never imported by this program."""
