"""The documented types of an agent: what a user's agent imports through `osmosis_ai.rollout`."""
