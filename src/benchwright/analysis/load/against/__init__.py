"""One server against another: measurements under load compared level by level."""
