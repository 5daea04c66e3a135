"""The bridge: runs a pack in its own process (Node or Python), and isolates the host from the pack's failures."""

from benchwright.packs.bridge.cell import CellResult, ProviderFailure
from benchwright.packs.bridge.connection import LogCallback
from benchwright.packs.bridge.limits import BridgeLimits
from benchwright.packs.bridge.process import PackProcess

__all__ = ["BridgeLimits", "CellResult", "LogCallback", "PackProcess", "ProviderFailure"]
