"""Installed packs, their configuration, and the sources from which packs are installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from benchwright.home import packs_directory, packs_file

if TYPE_CHECKING:
    from benchwright.packs.configuration import PackConfiguration
    from benchwright.packs.install import InstalledPack, InstallSettings
    from benchwright.packs.install.settings import PackCheck


def read_pack_configuration() -> PackConfiguration:
    """Return the merged configuration of the desktop host and Benchwright. Benchwright's values have priority.

    Raises:
        UserError: If one of the files is invalid.
    """
    from benchwright.packs.configuration import desktop_configuration_path, read_configuration

    return read_configuration([desktop_configuration_path(), packs_file()], os.environ)


def install_settings(
    registry: str | None,
    github_archive: str | None,
    compatible_version: str | None,
    check: PackCheck | None = None,
) -> InstallSettings:
    """Return the settings for installing packs: the sources of packs, the host's version, and a check.

    A source that is not given is the configured one. Without a configured source, it is the official one. `check`:
    called with each pack before it is installed.

    Raises:
        UserError: If the configuration is invalid.
    """
    from benchwright.packs.install import InstallSettings

    configuration = read_pack_configuration()
    given: dict[str, Any] = {
        "registry": registry or configuration.registry,
        "github_archive": github_archive or configuration.github_archive,
        "compatible_version": compatible_version,
        "pack_check": check,
    }
    return InstallSettings(**{name: value for name, value in given.items() if value is not None})


def installed_packs(compatible_version: str | None = None) -> list[InstalledPack]:
    """Return the installed packs, including broken ones. No code of a pack is run."""
    storage = packs_directory()
    if not storage.is_dir():
        return []
    from benchwright.packs.install import list_installed
    from benchwright.packs.versions import COMPATIBLE_VERSION

    return list_installed(storage, compatible_version or COMPATIBLE_VERSION)
