"""SWE-bench Pro: issues of repositories in four languages, with images and run scripts by Scale AI."""
