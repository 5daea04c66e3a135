"""A weighted mix of models (such as adapters of one server), one of which is drawn for each conversation."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from benchwright.errors import UserError


def parse_model_mix(text: str) -> dict[str, float]:
    """Return the weight of each model in a mix such as `base=0.7,adapter=0.3`.

    Raises:
        UserError: If the text is not such a list.
    """
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = part.rpartition("=")
        try:
            value = float(weight)
        except ValueError:
            value = 0.0
        if not name.strip() or not 0 < value < math.inf or name.strip() in weights:
            raise UserError(
                f"--model-mix {text!r} is not a list of models and weights such as base=0.7,adapter=0.3."
            )
        weights[name.strip()] = value
    return weights


class ModelMix:
    """Random choice of the model for each conversation, determined by a seed."""

    def __init__(self, weights: Mapping[str, float], seed: str) -> None:
        self._weights = weights
        self._seed = seed

    def request_fields(self, place: Any) -> dict[str, Any]:
        """Return the request field `model` for a conversation. Return no field if there is no mix.

        `place`: identifies the conversation, and determines the drawn model.
        """
        if not self._weights:
            return {}
        rng = random.Random(f"{self._seed}:model:{place}")
        return {"model": rng.choices(list(self._weights), list(self._weights.values()))[0]}


def describe_model_mix(weights: Mapping[str, float]) -> str:
    """Return a description of the models' shares in a mix."""
    total = sum(weights.values())
    return ", ".join(f"{name} {weight / total * 100:.0f} %" for name, weight in weights.items())
