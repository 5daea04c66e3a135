"""The types of an agent that osmosis_ai documents. A user's agent imports them from `osmosis_ai.rollout`."""
