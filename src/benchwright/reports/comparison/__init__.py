"""The answer to "is B better than A?" as tables and sentences for a terminal, Markdown and JUnit XML."""
