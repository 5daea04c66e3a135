"""The pulls in progress, tracked so that they can be displayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GiB = 2**30

_LOADED = ("Download complete", "Pull complete", "Extracting", "Verifying Checksum")
"""Statuses of an image layer that is completely downloaded."""


class PullProgress:
    """The pulls in progress, updated by the engine's messages."""

    def __init__(self) -> None:
        self._layers: dict[str, dict[str, tuple[int, int]]] = {}

    def add(self, image: str) -> None:
        """Add a pull."""
        self._layers[image] = {}

    def update(self, image: str, said: Mapping[str, Any]) -> None:
        """Update a pull from a message of the engine, which has a layer's id, status and downloaded bytes."""
        layers, layer = self._layers.get(image), said.get("id")
        if layers is None or not isinstance(layer, str):
            return
        detail = said.get("progressDetail") or {}
        total = layers.get(layer, (0, 0))[1]
        if said.get("status") == "Downloading" and detail.get("total"):
            layers[layer] = (int(detail.get("current") or 0), int(detail["total"]))
        elif total and said.get("status") in _LOADED:
            layers[layer] = (total, total)

    def remove(self, image: str) -> None:
        """Remove a pull that has ended, whether it succeeded or not."""
        self._layers.pop(image, None)

    def progress_lines(self) -> list[str]:
        """Return a line that describes the pulls in progress, with downloaded and total size.

        Return [] if there are none.

        The engine reports the size of a layer when its download begins, so the total may grow.
        """
        if not self._layers:
            return []
        sizes = [size for layers in self._layers.values() for size in layers.values()]
        here, total = (sum(part) / GiB for part in zip(*sizes, strict=True)) if sizes else (0.0, 0.0)
        names = list(self._layers)
        what = names[0] if len(names) == 1 else f"{len(names)} images"
        return [f"pulling {what}" + (f": {here:.2f} of {total:.2f} GiB" if total else "")]
