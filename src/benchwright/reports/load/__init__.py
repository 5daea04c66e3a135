"""What a measurement under load found: records, and their forms for a terminal."""
