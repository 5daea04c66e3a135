"""Load as a question: levels of concurrency or of arrivals, each an ordinary run, and what they come to together."""
