"""SWE-bench Pro: issues of repositories in four languages, in the images, and by the run scripts, of Scale AI."""
