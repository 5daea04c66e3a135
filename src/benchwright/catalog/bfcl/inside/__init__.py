"""Files that run in the sandbox, beside BFCL's own classes. Benchwright itself never imports them."""
