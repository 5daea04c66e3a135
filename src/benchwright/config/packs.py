"""Settings that only bench packs have: their process and their scenarios."""

from __future__ import annotations

from pydantic import Field

from benchwright.config.composed_settings import SettingsSection


class PackProcessSettings(SettingsSection):
    """How a pack's process is run: its runtime, its memory limit, its verifiers, and how it reaches the models."""

    node: str = "node"
    compatible_version: str | None = None
    """Version of the desktop host that Benchwright claims to be when it runs packs."""
    prepare_seconds: float = Field(default=300.0, gt=0)
    pack_memory: int = Field(default=4096, gt=0)
    """Memory limit of the pack's process in MiB."""
    keep_verifiers: bool = False
    direct: bool = False


class ScenarioSettings(SettingsSection):
    """Selection of a pack's scenarios, the number of repeats, and the order and limits of attempts."""

    n: int = Field(default=1, ge=1)
    mode: str | None = None
    """Execution mode. None: parallel_by_test_case, or parallel_by_model if there is one model."""
    scenario: tuple[str, ...] = ()
    scenario_seconds: float | None = Field(default=None, gt=0)
    """Maximum seconds for one attempt at a scenario."""
    cell_retries: int = Field(default=2, ge=0)
    """Number of further attempts at a scenario after a transient provider error."""
