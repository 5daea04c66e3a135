"""Installs, finds and verifies packs."""

from benchwright.packs.install.installed_packs import InstalledPack, find_changes, find_pack, list_installed
from benchwright.packs.install.installing import UpdateResult, install, uninstall, update
from benchwright.packs.install.registry import Registry, RegistryEntry, read_registry
from benchwright.packs.install.settings import (
    InstallLimits,
    InstallProgress,
    InstallSettings,
    ProgressCallback,
)
from benchwright.packs.install.storage import InstallRecord

__all__ = [
    "InstallLimits",
    "InstallProgress",
    "InstallRecord",
    "InstallSettings",
    "InstalledPack",
    "ProgressCallback",
    "Registry",
    "RegistryEntry",
    "UpdateResult",
    "find_changes",
    "find_pack",
    "install",
    "list_installed",
    "read_registry",
    "uninstall",
    "update",
]
