"""Files that run in the sandbox, next to BFCL's own classes. Benchwright itself never imports them."""
