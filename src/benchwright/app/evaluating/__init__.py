"""The parts of an eval, made of its settings."""
