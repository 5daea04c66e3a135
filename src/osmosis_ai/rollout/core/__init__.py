"""The modules of the documented import path `osmosis_ai.rollout.core`."""
