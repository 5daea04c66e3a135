"""Comparison of host versions, and the requirements that packs have of their host."""

from __future__ import annotations

import re

from benchwright.packs.manifest_types import Requirements

COMPATIBLE_VERSION = "0.3.0"
"""Version of the desktop host (BenchLocal) with which this host is compatible, unless the settings name another."""

HOST_FEATURES = frozenset({"inferenceEndpoints", "dockerInferenceEndpoints"})
"""Features of the host that packs may require. This host has all of them."""

VersionKey = tuple[tuple[int, int, int], bool, tuple[tuple[int, int, str], ...]]
"""Sort key of a version: its numbers, whether it is a release, and its prerelease identifiers."""

_VERSION = re.compile(
    r"(?P<numbers>\d{1,9}(?:\.\d{1,9}){0,2})"
    r"(?:-(?P<prerelease>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
    r"(?:\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)


def version_key(version: str) -> VersionKey | None:
    """Return the sort key of a version. Newer versions have greater keys. Return None if the text is not a version.

    A version is one to three numbers (missing numbers are 0), then `-prerelease`, then `+build`, which is
    ignored. The order is that of Semantic Versioning 2.0.0, section 11.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    numbers = [int(number) for number in match["numbers"].split(".")]
    major, minor, patch = (*numbers, 0, 0)[:3]
    identifiers = match["prerelease"].split(".") if match["prerelease"] else []
    ranked = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in identifiers)
    return (major, minor, patch), not identifiers, ranked


def incompatibility_reason(
    requirements: Requirements, compatible_version: str = COMPATIBLE_VERSION
) -> str | None:
    """Return why this host does not meet a pack's requirements. Return None if it does.

    `compatible_version`: the version of the desktop host with which this host is compatible.
    """
    ours = version_key(compatible_version)
    if ours is None:
        return f"the compatible version is set to {compatible_version!r}, which is not a version (like 0.3.0)"
    unknown = [feature for feature in requirements.host_features if feature not in HOST_FEATURES]
    if unknown:
        return f"it needs host features that are not supported: {', '.join(unknown)}"
    for name, limit in (
        ("minVersion", requirements.min_version),
        ("maxVersionExclusive", requirements.max_version_exclusive),
    ):
        if limit is None:
            continue
        theirs = version_key(limit)
        if theirs is None:
            return f"its {name} {limit!r} is not a version (like 0.3.0)"
        if (ours < theirs) == (name == "minVersion"):
            bound = "or later" if name == "minVersion" else "excluded, at most"
            return (
                f"it needs host version {limit} ({bound}); this one is compatible with {compatible_version}"
            )
    return None
