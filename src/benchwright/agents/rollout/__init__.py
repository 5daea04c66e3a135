"""The documented types of an agent, which a user's agent imports from `osmosis_ai.rollout`."""
