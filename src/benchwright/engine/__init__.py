"""The engine: plans of trials, the one loop that runs them, the journal, re-use and summaries."""
