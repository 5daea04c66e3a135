"""Installs, finds and verifies packs."""

from benchwright.packs.install.installed import InstalledPack, find_pack, installed, verify
from benchwright.packs.install.installing import Update, install, uninstall, update
from benchwright.packs.install.registry import Registry, RegistryEntry, read_registry
from benchwright.packs.install.settings import InstallLimits, InstallProgress, InstallSettings, Report
from benchwright.packs.install.storage import InstallRecord

__all__ = [
    "InstallLimits",
    "InstallProgress",
    "InstallRecord",
    "InstallSettings",
    "InstalledPack",
    "Registry",
    "RegistryEntry",
    "Report",
    "Update",
    "find_pack",
    "install",
    "installed",
    "read_registry",
    "uninstall",
    "update",
    "verify",
]
