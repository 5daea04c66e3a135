"""SWE-bench Pro: issues of repositories in four languages, with Scale AI's images and run scripts."""
