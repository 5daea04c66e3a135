"""Where packs are kept, what is configured for them, and where new ones come from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from benchwright.home import packs_directory, packs_file

if TYPE_CHECKING:
    from benchwright.packs.configuration import PackConfiguration
    from benchwright.packs.install import InstalledPack, InstallSettings
    from benchwright.packs.install.settings import Check


def read_own_configuration() -> PackConfiguration:
    """What the desktop host's file and our own say; where both say something, ours counts.

    Raises:
        UserError: one of them is not as it should be.
    """
    from benchwright.packs.configuration import desktop_configuration, read_configuration

    return read_configuration([desktop_configuration(), packs_file()], os.environ)


def install_settings(
    registry: str | None,
    github_archive: str | None,
    compatible_version: str | None,
    check: Check | None = None,
) -> InstallSettings:
    """Where packs come from: as given, else as configured, else the official places.

    `check` is a last look at what is to be installed.

    Raises:
        UserError: the configuration is not as it should be.
    """
    from benchwright.packs.install import InstallSettings

    configuration = read_own_configuration()
    given: dict[str, Any] = {
        "registry": registry or configuration.registry,
        "github_archive": github_archive or configuration.github_archive,
        "compatible_version": compatible_version,
        "check": check,
    }
    return InstallSettings(**{name: value for name, value in given.items() if value is not None})


def installed_packs(compatible_version: str | None = None) -> list[InstalledPack]:
    """The installed packs, broken ones too; no pack's code is run."""
    storage = packs_directory()
    if not storage.is_dir():
        return []
    from benchwright.packs.install import installed
    from benchwright.packs.versions import COMPATIBLE_VERSION

    return installed(storage, compatible_version or COMPATIBLE_VERSION)
