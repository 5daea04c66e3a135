"""The parts of an eval, created from its settings."""
