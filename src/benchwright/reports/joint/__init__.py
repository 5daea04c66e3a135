"""Quality and speed of the same requests: what was found, and its tables and sentences."""
