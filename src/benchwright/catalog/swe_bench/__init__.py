"""SWE-bench Verified: real issues of real repositories, solved in their containers (arXiv:2310.06770)."""
