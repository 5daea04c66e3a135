"""Load measurements: levels of concurrency or request rate, each an ordinary run."""
