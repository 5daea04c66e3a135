"""SWE-bench Multilingual: real issues of projects in nine languages, in their containers (SWE-bench 5.0)."""
